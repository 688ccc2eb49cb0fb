#include "api/admin/times.hpp"

#include <array>
#include <chrono>
#include <cstdio>

namespace api::admin {

namespace {

std::string with_rest(std::int64_t whole, const char* unit, std::int64_t rest,
                      const char* rest_unit) {
    std::string digits = std::to_string(rest);
    if (digits.size() < 2) digits.insert(0, "0");
    return std::to_string(whole) + " " + unit + " " + digits + " " + rest_unit;
}

}  // namespace

std::string utc_text(domain::Timestamp time) {
    const auto day = std::chrono::floor<std::chrono::days>(time);
    const std::chrono::year_month_day date{day};
    const std::chrono::hh_mm_ss clock{time - day};
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ",
                  static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                  static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
                  static_cast<int>(clock.minutes().count()),
                  static_cast<int>(clock.seconds().count()),
                  static_cast<int>(clock.subseconds().count()));
    return text.data();
}

std::string span_text(domain::Milliseconds span) {
    constexpr std::int64_t minute = 60;
    constexpr std::int64_t hour = 60 * minute;
    constexpr std::int64_t day = 24 * hour;
    if (span < domain::Milliseconds{1'000}) return std::to_string(span.count()) + " ms";
    const std::int64_t seconds = span.count() / 1'000;
    if (seconds < 2 * minute) return std::to_string(seconds) + " s";
    if (seconds < 2 * hour) return std::to_string(seconds / minute) + " min";
    if (seconds < 2 * day) return with_rest(seconds / hour, "h", seconds % hour / minute, "min");
    return with_rest(seconds / day, "d", seconds % day / hour, "h");
}

}  // namespace api::admin
