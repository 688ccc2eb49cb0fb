#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace chains::evm {

[[nodiscard]] bool is_utf8(std::string_view text);

// Foreign text as a client may see it: no control characters (tabs and line ends become spaces),
// what is not UTF-8 replaced by U+FFFD, URLs by domain::redact_urls(); cut to `bytes_max` between
// characters.
[[nodiscard]] std::string printable(std::string_view text, std::size_t bytes_max);

}  // namespace chains::evm
