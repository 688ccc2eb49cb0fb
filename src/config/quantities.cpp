#include "config/quantities.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>

#include "base/text.hpp"

namespace config {
namespace {

constexpr std::int64_t second_ms = 1'000;
constexpr std::int64_t minute_ms = 60 * second_ms;
constexpr std::int64_t hour_ms = 60 * minute_ms;
constexpr std::int64_t day_ms = 24 * hour_ms;
constexpr std::int64_t week_ms = 7 * day_ms;

// The first name is the one that is written.
struct Unit {
    std::int64_t ms;
    std::array<std::string_view, 5> names;
};

constexpr std::array duration_units{
    Unit{week_ms, {"w", "week", "weeks"}},
    Unit{day_ms, {"d", "day", "days"}},
    Unit{hour_ms, {"h", "hr", "hour", "hours"}},
    Unit{minute_ms, {"m", "min", "mins", "minute", "minutes"}},
    Unit{second_ms, {"s", "sec", "secs", "second", "seconds"}},
    Unit{1, {"ms", "millis"}},
};

std::optional<std::int64_t> unit_ms(std::string_view name) {
    if (name.empty()) return std::nullopt;
    for (const Unit& unit : duration_units) {
        if (std::ranges::find(unit.names, name) != unit.names.end()) return unit.ms;
    }
    return std::nullopt;
}

using base::is_digit;

template <typename Predicate>
std::string_view take_while(std::string_view& text, Predicate holds) {
    std::size_t length = 0;
    while (length < text.size() && holds(text[length])) ++length;
    const std::string_view taken = text.substr(0, length);
    text.remove_prefix(length);
    return taken;
}

// Exactly `length` digits.
std::optional<int> fixed_number(std::string_view& text, std::size_t length) {
    const std::string_view digits = text.substr(0, length);
    if (digits.size() != length || !std::ranges::all_of(digits, is_digit)) return std::nullopt;
    text.remove_prefix(length);
    return base::number_in<int>(digits);
}

bool skip(std::string_view& text, std::string_view any_of) {
    if (text.empty() || any_of.find(text.front()) == std::string_view::npos) return false;
    text.remove_prefix(1);
    return true;
}

std::optional<domain::Timestamp> date_of(std::string_view& text) {
    const auto year = fixed_number(text, 4);
    if (!year || !skip(text, "-")) return std::nullopt;
    const auto month = fixed_number(text, 2);
    if (!month || !skip(text, "-")) return std::nullopt;
    const auto day = fixed_number(text, 2);
    if (!day) return std::nullopt;
    const std::chrono::year_month_day date{std::chrono::year{*year},
                                           std::chrono::month{static_cast<unsigned>(*month)},
                                           std::chrono::day{static_cast<unsigned>(*day)}};
    if (!date.ok()) return std::nullopt;
    return std::chrono::time_point_cast<domain::Milliseconds>(std::chrono::sys_days{date});
}

std::optional<domain::Milliseconds> time_of_day(std::string_view& text) {
    const auto hour = fixed_number(text, 2);
    if (!hour || !skip(text, ":")) return std::nullopt;
    const auto minute = fixed_number(text, 2);
    if (!minute || !skip(text, ":")) return std::nullopt;
    const auto second = fixed_number(text, 2);
    if (!second || *hour > 23 || *minute > 59 || *second > 59) return std::nullopt;
    std::int64_t ms = 0;
    if (skip(text, ".")) {
        const std::string_view digits = take_while(text, is_digit);
        if (digits.empty()) return std::nullopt;
        std::string three{digits.substr(0, 3)};
        three.resize(3, '0');
        ms = *base::number_in<std::int64_t>(three);
    }
    return std::chrono::hours{*hour} + std::chrono::minutes{*minute} +
           std::chrono::seconds{*second} + domain::Milliseconds{ms};
}

std::optional<domain::Milliseconds> offset_of(std::string_view& text) {
    if (skip(text, "Zz")) return domain::Milliseconds{0};
    const bool west = text.starts_with('-');
    if (!skip(text, "+-")) return std::nullopt;
    const auto hour = fixed_number(text, 2);
    if (!hour || !skip(text, ":")) return std::nullopt;
    const auto minute = fixed_number(text, 2);
    if (!minute || *hour > 23 || *minute > 59) return std::nullopt;
    const domain::Milliseconds offset = std::chrono::hours{*hour} + std::chrono::minutes{*minute};
    return west ? -offset : offset;
}

}  // namespace

std::optional<domain::Milliseconds> parse_duration(std::string_view text) {
    std::int64_t total = 0;
    bool any = false;
    const auto is_space = [](char c) { return c == ' '; };
    for (take_while(text, is_space); !text.empty(); take_while(text, is_space)) {
        const auto number = base::number_in<std::int64_t>(take_while(text, is_digit));
        take_while(text, is_space);
        const auto unit = unit_ms(take_while(text, base::is_letter));
        std::int64_t part = 0;
        if (!number || !unit || __builtin_mul_overflow(*number, *unit, &part) ||
            __builtin_add_overflow(total, part, &total)) {
            return std::nullopt;
        }
        any = true;
    }
    if (!any) return std::nullopt;
    return domain::Milliseconds{total};
}

std::string format_duration(domain::Milliseconds time) {
    for (const Unit& unit : duration_units) {
        const bool fits = time.count() != 0 && time.count() % unit.ms == 0;
        if (!fits || unit.ms == week_ms) continue;  // weeks are only read
        return std::to_string(time.count() / unit.ms) + std::string{unit.names[0]};
    }
    return "0ms";
}

std::optional<domain::Timestamp> parse_time(std::string_view text) {
    constexpr std::int64_t seconds_max = 253'402'300'799;  // the end of the year 9999
    if (const auto seconds = base::number_in<std::int64_t>(text)) {
        if (*seconds < 0 || *seconds > seconds_max) return std::nullopt;
        return domain::from_unix_ms(*seconds * second_ms);
    }
    const auto date = date_of(text);
    if (!date || !skip(text, "Tt ")) return std::nullopt;
    const auto time = time_of_day(text);
    if (!time) return std::nullopt;
    const auto offset = offset_of(text);
    if (!offset || !text.empty()) return std::nullopt;
    // The offset may lead out of the years that have four digits.
    constexpr domain::Timestamp min = std::chrono::sys_days{std::chrono::year{0} / 1 / 1};
    constexpr domain::Timestamp end = domain::from_unix_ms((seconds_max + 1) * second_ms);
    const domain::Timestamp moment = *date + *time - *offset;
    if (moment < min || moment >= end) return std::nullopt;
    return moment;
}

std::string format_time(domain::Timestamp time) {
    const auto day = std::chrono::floor<std::chrono::days>(time);
    const std::chrono::year_month_day date{day};
    const std::chrono::hh_mm_ss clock{time - day};
    const auto ms = static_cast<int>(clock.subseconds().count());
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d",
                  static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                  static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
                  static_cast<int>(clock.minutes().count()),
                  static_cast<int>(clock.seconds().count()));
    std::string out{text.data()};
    if (ms != 0) {
        const std::string padded = std::to_string(1'000 + ms);
        out += "." + padded.substr(1);
    }
    return out + "Z";
}

}  // namespace config
