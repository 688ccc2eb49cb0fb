#pragma once

#include <span>
#include <string_view>

#include "domain/bytes.hpp"

namespace domain {

// A key for one purpose, made from a secret one: HKDF-SHA256 (RFC 5869). Another salt or purpose
// gives another key, and none of them tells of the others. Whoever gets it wipes it. Any thread.
[[nodiscard]] Bytes32 derived_key(ByteView key, ByteView salt, std::string_view purpose);

// HMAC-SHA256 (RFC 2104). Any thread.
[[nodiscard]] Bytes32 hmac_sha256(ByteView key, ByteView message);

// Takes as long wherever they differ, so that nobody finds a secret byte by byte.
[[nodiscard]] bool are_same_secret(ByteView one, ByteView other);

// Overwrites what is not needed any more; not left out by the compiler.
void wipe(std::span<std::uint8_t> secret);

}  // namespace domain
