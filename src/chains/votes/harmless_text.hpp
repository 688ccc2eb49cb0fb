#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace chains::votes {

// What a prover or a chain said, for logs and reasons: one line of printable ASCII, where `…`
// stands for URLs and for whatever may be a part of what it was given: 20 or more characters
// without a space, hex or decimal numbers in a row with that many digits, and everything from the
// first number on when there are more than 30 digits in all. Of at most `bytes_max` and a few
// bytes.
[[nodiscard]] std::string harmless_text(std::string_view text, std::size_t bytes_max);

// Without what may be the beginning of a longer secret, for text that was cut off.
[[nodiscard]] std::string_view without_open_end(std::string_view text);

}  // namespace chains::votes
