#include "api/wait.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.hpp"

namespace api {

namespace {

using base::trimmed;
using std::chrono::seconds;

std::optional<seconds> read_seconds(std::string_view text) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (end != text.data() + text.size()) return {};
    if (error == std::errc::result_out_of_range) return seconds::max();
    if (error != std::errc{}) return {};
    return seconds{value};
}

// Calls `use` with each part until it says that it has found what it wants.
template <typename Use>
void for_each_part(std::string_view text, char separator, Use use) {
    while (!text.empty()) {
        const std::size_t end = text.find(separator);
        if (use(text.substr(0, end)) || end == std::string_view::npos) return;
        text.remove_prefix(end + 1);
    }
}

std::optional<std::string_view> value_in(std::string_view query, std::string_view name) {
    std::optional<std::string_view> value;
    for_each_part(query, '&', [&](std::string_view part) {
        const std::size_t equals = part.find('=');
        if (part.substr(0, equals) != name) return false;
        value = equals == std::string_view::npos ? std::string_view{} : part.substr(equals + 1);
        return true;
    });
    return value;
}

std::optional<seconds> preferred_wait(const net::HttpRequest& request) {
    std::optional<seconds> wait;
    for (const net::HttpHeader& header : request.headers) {
        if (!net::equal_ignoring_case(header.name, "Prefer")) continue;
        for_each_part(header.value, ',', [&](std::string_view preference) {
            const std::string_view item = trimmed(preference.substr(0, preference.find(';')));
            const std::size_t equals = item.find('=');
            if (!net::equal_ignoring_case(trimmed(item.substr(0, equals)), "wait")) return false;
            if (equals != std::string_view::npos) {
                wait = read_seconds(trimmed(item.substr(equals + 1)));
            }
            return true;
        });
        if (wait) break;
    }
    return wait;
}

}  // namespace

Wait read_wait(const net::HttpRequest& request, seconds longest) {
    std::optional<seconds> wait;
    if (auto query = value_in(request.query, "wait")) {
        if (query->ends_with('s')) query->remove_suffix(1);
        wait = read_seconds(*query);
        if (!wait || *wait > longest) {
            return validation_failed(
                {{"wait", "Must be whole seconds from 0 to " + std::to_string(longest.count()) +
                              ", such as 20s"}});
        }
    } else {
        wait = preferred_wait(request);
        if (wait) wait = std::min(*wait, longest);
    }
    if (wait == seconds{0}) wait.reset();
    return wait;
}

}  // namespace api
