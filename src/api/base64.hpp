#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace api {

// Reads canonical base64 (RFC 4648, 4): standard alphabet, padding, spare bits zero, nothing else.
// Writes as many bytes as fit into `out` and answers how many the text holds; nothing when it is no
// canonical base64.
[[nodiscard]] std::optional<std::size_t> read_base64(std::string_view text,
                                                     std::span<std::uint8_t> out);

}  // namespace api
