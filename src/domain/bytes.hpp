#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace domain {

using Bytes = std::vector<std::uint8_t>;
using ByteView = std::span<const std::uint8_t>;
using Bytes32 = std::array<std::uint8_t, 32>;
using Address = std::array<std::uint8_t, 20>;

// The lowest `size` bytes of the number, the highest of them first.
void append_big_endian(Bytes& bytes, std::uint64_t number, std::size_t size);

// Lower-case hexadecimal digits without a prefix.
[[nodiscard]] std::string to_hex(ByteView bytes);

// Reads an even number of hexadecimal digits of either case, no prefix.
// Nothing when a character is no digit or the count is odd.
[[nodiscard]] std::optional<Bytes> from_hex(std::string_view digits);

// Reads exactly `out.size()` bytes; false leaves `out` unspecified.
[[nodiscard]] bool from_hex(std::string_view digits, std::span<std::uint8_t> out);

[[nodiscard]] Bytes32 sha256(ByteView bytes);

// The digest of all parts one after another, without joining them in memory.
[[nodiscard]] Bytes32 sha256(std::span<const ByteView> parts);

}  // namespace domain
