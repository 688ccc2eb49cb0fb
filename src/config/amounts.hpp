#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "chains/jsonrpc/wei.hpp"

namespace config {

inline constexpr std::uint32_t ether_decimals = 18;
inline constexpr std::uint32_t gwei_decimals = 9;

// Amounts in units of 10^decimals wei, from 0 to 10^9 units: digits with or without a point and
// digits behind it, at least one before it. Nothing for other texts and for parts of a wei.
[[nodiscard]] std::optional<chains::jsonrpc::Wei> parse_amount(std::string_view text,
                                                               std::uint32_t decimals);

// Without zeros at the end.
[[nodiscard]] std::string format_amount(chains::jsonrpc::Wei amount, std::uint32_t decimals);

}  // namespace config
