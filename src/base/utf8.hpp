#pragma once

#include <cstddef>
#include <string_view>

namespace base {

// Bytes of the UTF-8 character that `text` begins with (Unicode 15, table 3-7); 0: none that is
// well formed.
[[nodiscard]] std::size_t utf8_length(std::string_view text);

[[nodiscard]] bool is_utf8(std::string_view text);

// The longest beginning of a UTF-8 text that has at most `bytes_max` bytes and ends between two
// characters.
[[nodiscard]] std::string_view cut_utf8(std::string_view text, std::size_t bytes_max);

}  // namespace base
