#include "config/amounts.hpp"

#include <algorithm>
#include <cstddef>

#include "base/fixed_point.hpp"
#include "base/text.hpp"

namespace config {
namespace {

using chains::jsonrpc::Wei;

constexpr std::uint64_t units_max = 1'000'000'000;
constexpr std::size_t digits_max = 64;

Wei unit_of(std::uint32_t decimals) {
    Wei unit = 1;
    for (std::uint32_t i = 0; i < decimals; ++i) unit *= 10;
    return unit;
}

// Digits only, and so few that the sum can not overflow.
std::optional<Wei> number_of(std::string_view digits, std::size_t significant_max) {
    if (!std::ranges::all_of(digits, base::is_digit)) return std::nullopt;
    digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
    if (digits.size() > significant_max) return std::nullopt;
    Wei value = 0;
    for (const char c : digits) value = value * 10 + static_cast<Wei>(c - '0');
    return value;
}

}  // namespace

std::optional<Wei> parse_amount(std::string_view text, std::uint32_t decimals) {
    if (text.size() > digits_max) return std::nullopt;
    const std::size_t point = text.find('.');
    const std::string_view whole = text.substr(0, point);
    std::string_view rest = point == std::string_view::npos ? "0" : text.substr(point + 1);
    if (whole.empty() || rest.empty()) return std::nullopt;
    while (rest.size() > 1 && rest.back() == '0') rest.remove_suffix(1);
    if (rest == "0") rest = {};
    if (rest.size() > decimals) return std::nullopt;

    const auto units = number_of(whole, 10);
    const auto parts = number_of(rest, decimals);
    if (!units || !parts) return std::nullopt;
    const Wei amount = *units * unit_of(decimals) +
                       *parts * unit_of(decimals - static_cast<std::uint32_t>(rest.size()));
    if (amount > units_max * unit_of(decimals)) return std::nullopt;
    return amount;
}

std::string format_amount(Wei amount, std::uint32_t decimals) {
    return base::fixed_point(amount, decimals);
}

}  // namespace config
