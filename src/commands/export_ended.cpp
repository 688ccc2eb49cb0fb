#include "commands/export_ended.hpp"

#include <array>
#include <chrono>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string>

#include "api/ended_request.hpp"
#include "commands/client_names.hpp"
#include "config/command_line.hpp"
#include "config/exit_status.hpp"
#include "store/ended_requests.hpp"

namespace commands {

namespace {

// GCC 12 has no std::chrono::from_stream.
std::optional<domain::Timestamp> read_date(std::string_view text) {
    int year = 0;
    unsigned month = 0;
    unsigned day = 0;
    unsigned hour = 0;
    unsigned minute = 0;
    unsigned second = 0;
    std::array<char, 6> marks{};
    std::istringstream stream{std::string(text)};
    stream >> year >> marks[0] >> month >> marks[1] >> day;
    const bool has_time = text.find('T') != std::string_view::npos;
    if (has_time) {
        stream >> marks[2] >> hour >> marks[3] >> minute >> marks[4] >> second >> marks[5];
    }
    const std::string_view expected = has_time ? "--T::Z" : "--";
    const bool fits = !stream.fail() && stream.peek() == std::istringstream::traits_type::eof() &&
                      std::string_view(marks.data(), expected.size()) == expected;
    const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{month},
                                           std::chrono::day{day}};
    if (!fits || !date.ok() || year < 1970 || year > 9999) return {};
    if (hour > 23 || minute > 59 || second > 59) return {};
    return domain::Timestamp{std::chrono::sys_days{date} + std::chrono::hours{hour} +
                             std::chrono::minutes{minute} + std::chrono::seconds{second}};
}

}  // namespace

std::optional<domain::Timestamp> read_time(std::string_view text) {
    constexpr std::size_t digits_max = 12;
    const bool is_number = !text.empty() && text.size() <= digits_max &&
                           text.find_first_not_of("0123456789") == std::string_view::npos;
    if (is_number) return domain::Timestamp{std::chrono::seconds{std::stoll(std::string(text))}};
    return read_date(text);
}

int export_ended(const config::Settings& settings,
                 const std::optional<std::filesystem::path>& backup, domain::Timestamp since,
                 const ports::Progress& progress, std::ostream& out) {
    store::EndedRequests requests(backup.value_or(store::database_path(settings.store)), since,
                                  settings.engine.shares.expose_timing);
    const std::uint64_t total = requests.count();
    const auto client_name = client_names(settings);
    std::uint64_t done = 0;
    for (auto some = requests.next(); !some.empty(); some = requests.next()) {
        for (const store::EndedRequest& request : some)
            out << api::json_line(request, client_name) << "\n";
        if (!out) throw std::runtime_error("can not write the export");
        done += some.size();
        progress({"requests", done, total});
    }
    out.flush();
    if (!out) throw std::runtime_error("can not write the export");
    return requests.unreadable() == 0 ? EXIT_SUCCESS : config::exit_not_all;
}

}  // namespace commands
