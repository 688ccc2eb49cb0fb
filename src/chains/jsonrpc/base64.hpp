#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace chains::jsonrpc {

// RFC 4648, 4, with padding.
[[nodiscard]] std::string base64(std::string_view bytes);

// Reads exactly `out.size()` bytes of it, canonical: nothing else between, spare bits zero. False
// leaves `out` as it was.
[[nodiscard]] bool from_base64(std::string_view text, std::span<std::uint8_t> out);

}  // namespace chains::jsonrpc
