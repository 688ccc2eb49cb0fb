#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

// Base64 of RFC 4648, section 4: standard alphabet, padding.
namespace base {

[[nodiscard]] std::string to_base64(std::span<const std::uint8_t> bytes);
[[nodiscard]] std::string to_base64(std::string_view bytes);

// Reads the canonical form alone: spare bits are zero, nothing stands between or behind. Writes as
// many bytes as fit into `out` and answers how many the text holds; nothing when it is not
// canonical.
[[nodiscard]] std::optional<std::size_t> read_base64(std::string_view text,
                                                     std::span<std::uint8_t> out);

// Reads exactly `out.size()` bytes. False leaves `out` as it was.
[[nodiscard]] bool from_base64(std::string_view text, std::span<std::uint8_t> out);

}  // namespace base
