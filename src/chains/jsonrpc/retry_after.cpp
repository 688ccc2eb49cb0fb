#include "chains/jsonrpc/retry_after.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>

#include "base/text.hpp"

namespace chains::jsonrpc {
namespace {

using domain::Milliseconds;

constexpr Milliseconds wait_min{1'000};
constexpr Milliseconds wait_max = std::chrono::minutes{10};

constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

// `Sun, 06 Nov 1994 08:49:37 GMT`
std::optional<domain::Timestamp> date(std::string_view text) {
    if (text.size() != 29 || text.substr(25) != " GMT") return std::nullopt;
    const auto month = std::ranges::find(months, text.substr(8, 3));
    const auto day = base::number_in<std::uint32_t>(text.substr(5, 2));
    const auto year = base::number_in<std::uint32_t>(text.substr(12, 4));
    const auto hour = base::number_in<std::uint32_t>(text.substr(17, 2));
    const auto minute = base::number_in<std::uint32_t>(text.substr(20, 2));
    const auto second = base::number_in<std::uint32_t>(text.substr(23, 2));
    if (month == months.end() || !day || !year || !hour || !minute || !second) return std::nullopt;
    const std::chrono::year_month_day when{
        std::chrono::year{static_cast<int>(*year)},
        std::chrono::month{static_cast<unsigned>(month - months.begin()) + 1},
        std::chrono::day{*day}};
    if (!when.ok() || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
    return domain::Timestamp{std::chrono::sys_days{when} + std::chrono::hours{*hour} +
                             std::chrono::minutes{*minute} + std::chrono::seconds{*second}};
}

bool is_count(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

Milliseconds throttle_wait(std::optional<std::string_view> retry_after, domain::Timestamp now) {
    if (!retry_after) return wait_min;
    if (is_count(*retry_after)) {
        const auto seconds =
            base::number_in<std::uint32_t>(*retry_after);  // nothing: more than any number
        if (!seconds) return wait_max;
        return std::clamp<Milliseconds>(std::chrono::seconds{*seconds}, wait_min, wait_max);
    }
    const auto when = date(*retry_after);
    return when ? std::clamp<Milliseconds>(*when - now, wait_min, wait_max) : wait_min;
}

}  // namespace chains::jsonrpc
