#include "api/admin/admin_values.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.hpp"

namespace api::admin {

namespace {

constexpr long decimals_max = 3;

constexpr std::array interval_members{std::string_view{"elapsed_threshold_secs"},
                                      std::string_view{"retry_interval_secs"}};

// A number as JSON writes it (RFC 8259, 6), taken apart without rounding: digits times ten to the
// power of the exponent.
struct Decimal {
    std::string digits;  // no zeros at either end; empty: the number is 0
    long exponent = 0;
    bool negative = false;
    bool is_integer = false;  // written without fraction, exponent and sign
};

// Of `e5`, `E+5`, `e-5`. Beyond all bounds only where the digits are zeros, since the reader of
// JSON refuses what no double can hold.
long exponent_of(std::string_view part) {
    if (part.empty()) return 0;
    part.remove_prefix(part.size() > 1 && part[1] == '+' ? 2 : 1);
    return base::number_in<long>(part).value_or(0);
}

// `number` as a JsonValue of type number gives it.
Decimal decimal_of(std::string_view number) {
    Decimal out;
    out.is_integer = number.find_first_of("-.eE") == std::string_view::npos;
    out.negative = number.starts_with('-');
    if (out.negative) number.remove_prefix(1);

    const std::size_t end = std::min(number.find_first_of("eE"), number.size());
    const std::string_view mantissa = number.substr(0, end);
    const std::size_t dot = std::min(mantissa.find('.'), mantissa.size());
    out.digits = mantissa.substr(0, dot);
    long decimals = 0;
    if (dot < mantissa.size()) {
        out.digits += mantissa.substr(dot + 1);
        decimals = static_cast<long>(mantissa.size() - dot - 1);
    }
    out.digits.erase(0, std::min(out.digits.find_first_not_of('0'), out.digits.size()));
    const std::size_t kept = out.digits.find_last_not_of('0') + 1;
    if (kept > 0) {
        const auto zeros = static_cast<long>(out.digits.size() - kept);
        out.exponent = exponent_of(number.substr(end)) - decimals + zeros;
    }
    out.digits.resize(kept);
    return out;
}

std::string_view type_of(JsonValue value) {
    if (value.is(JsonType::array)) return "array";
    return decimal_of(value.text()).is_integer ? "u32" : "f32";
}

AdminError mismatch(std::string_view expected, JsonValue value) {
    return {"Type mismatch: expected " + std::string(expected) + ", got " +
            std::string(type_of(value))};
}

AdminError above(std::string_view name, std::uint32_t max) {
    return {std::string(name) + " must be less than or equal to " + std::to_string(max)};
}

AdminError out_of_range(std::string_view number) {
    constexpr std::size_t shown_max = 40;
    std::string shown(number.substr(0, shown_max));
    if (number.size() > shown_max) shown += "…";
    return {"Value " + shown + " is out of range [0, 1]"};
}

// The two numbers of [threshold, interval] or of an object with exactly these members.
std::optional<std::array<JsonValue, 2>> interval_parts(JsonValue entry) {
    if (entry.size() != 2) return std::nullopt;
    if (entry.is(JsonType::array)) {
        auto element = entry.elements().begin();
        const JsonValue first = *element;
        return std::array{first, *++element};
    }
    if (!entry.is(JsonType::object)) return std::nullopt;
    const auto threshold = entry.find(interval_members[0]);
    const auto interval = entry.find(interval_members[1]);
    if (!threshold || !interval) return std::nullopt;
    return std::array{*threshold, *interval};
}

std::variant<domain::BackoffInterval, AdminError> read_interval(JsonValue entry,
                                                                const std::string& place) {
    const auto parts = interval_parts(entry);
    if (!parts) {
        return AdminError{place + " must be [threshold, interval] or an object with the members " +
                          std::string(interval_members[0]) + " and " +
                          std::string(interval_members[1])};
    }
    constexpr std::array<std::uint32_t, 2> mins{0, 1};
    std::array<std::uint32_t, 2> seconds{};
    for (std::size_t i = 0; i < parts->size(); ++i) {
        const JsonValue part = (*parts)[i];
        const bool is_integer = part.is(JsonType::number) && decimal_of(part.text()).is_integer;
        const auto value = is_integer ? base::number_in<std::uint32_t>(part.text()) : std::nullopt;
        if (!value || *value < mins[i] || *value > interval_seconds_max) {
            return AdminError{place + "." + std::string(interval_members[i]) +
                              " must be a whole number from " + std::to_string(mins[i]) + " to " +
                              std::to_string(interval_seconds_max)};
        }
        seconds[i] = *value;
    }
    return domain::BackoffInterval{seconds[0], seconds[1]};
}

}  // namespace

std::variant<AdminValue, AdminError> read_whole(const AdminParameter& parameter, JsonValue value) {
    if (!value.is(JsonType::number) || !decimal_of(value.text()).is_integer) {
        return mismatch("u32", value);
    }
    const auto number = base::number_in<std::uint32_t>(value.text());
    if (!number || *number > parameter.max) return above(parameter.name, parameter.max);
    if (*number < parameter.min) {
        return AdminError{std::string(parameter.name) + " must be greater than " +
                          std::to_string(parameter.min - 1)};
    }
    return AdminValue{*number};
}

std::variant<AdminValue, AdminError> read_fraction(const AdminParameter& parameter,
                                                   JsonValue value) {
    if (!value.is(JsonType::number)) return mismatch("f32", value);
    const auto [digits, exponent, negative, is_integer] = decimal_of(value.text());
    if (digits.empty()) return AdminValue{std::uint32_t{0}};
    if (negative) return out_of_range(value.text());
    // The number lies from 10^(order - 1) to below 10^order.
    const long order = static_cast<long>(digits.size()) + exponent;
    if (order > 1 || (order == 1 && digits != "1")) {
        return exponent >= 0 ? above(parameter.name, 1) : out_of_range(value.text());
    }
    if (exponent < -decimals_max) {
        return AdminError{std::string(parameter.name) + " must have at most " +
                          std::to_string(decimals_max) + " decimals"};
    }
    std::uint32_t permille = base::number_in<std::uint32_t>(digits).value();
    for (long i = -decimals_max; i < exponent; ++i) permille *= 10;
    return AdminValue{permille};
}

std::variant<AdminValue, AdminError> read_intervals(const AdminParameter& parameter,
                                                    JsonValue value) {
    if (!value.is(JsonType::array)) return mismatch("array", value);
    const std::string name(parameter.name);
    if (value.size() > intervals_max) {
        return AdminError{name + " must have at most " + std::to_string(intervals_max) +
                          " entries"};
    }
    std::vector<domain::BackoffInterval> intervals;
    for (const JsonValue entry : value.elements()) {
        const std::string place = name + "[" + std::to_string(intervals.size()) + "]";
        auto read = read_interval(entry, place);
        if (auto* api_error = std::get_if<AdminError>(&read)) return std::move(*api_error);
        const auto interval = std::get<domain::BackoffInterval>(read);
        const bool rises = intervals.empty() || interval.elapsed_threshold_seconds >
                                                    intervals.back().elapsed_threshold_seconds;
        if (!rises) {
            return AdminError{place + "." + std::string(interval_members[0]) +
                              " must be greater than " +
                              std::to_string(intervals.back().elapsed_threshold_seconds) +
                              ", that of the entry before"};
        }
        intervals.push_back(interval);
    }
    return AdminValue{std::move(intervals)};
}

}  // namespace api::admin
