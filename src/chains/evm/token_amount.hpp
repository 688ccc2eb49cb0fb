#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "domain/bytes.hpp"

namespace chains::evm {

// Amounts of a token: a uint256 of its smallest unit, 10^-decimals of a token (ERC-20), and the
// decimal number that people write.

// Most a uint256 may have: 10^77 < 2^256.
inline constexpr unsigned token_decimals_max = 77;

// Without trailing zeros: `0`, `12.5`.
[[nodiscard]] std::string token_text(const domain::Bytes32& amount, unsigned decimals);

// Digits, perhaps a point and up to `decimals` more of them. The text: why it is none.
[[nodiscard]] std::variant<domain::Bytes32, std::string> read_token_amount(std::string_view text,
                                                                           unsigned decimals);

}  // namespace chains::evm
