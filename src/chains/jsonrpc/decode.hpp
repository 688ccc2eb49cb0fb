#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "chains/jsonrpc/node.hpp"
#include "chains/jsonrpc/wei.hpp"
#include "domain/bytes.hpp"

namespace chains::jsonrpc {

// Strict readers of what nodes say (Ethereum JSON-RPC: quantities are `0x` and hex digits without
// leading zeros, which are tolerated; data has an even number of digits). Nothing when malformed or
// out of range.
[[nodiscard]] std::optional<std::uint64_t> quantity(const Json& value);
[[nodiscard]] std::optional<Wei> wei(const Json& value);
[[nodiscard]] std::optional<domain::Bytes> bytes(const Json& value);
[[nodiscard]] std::optional<domain::Bytes32> bytes32(const Json& value);
[[nodiscard]] std::optional<domain::Address> address(const Json& value);

// Writers.
[[nodiscard]] std::string hex(domain::ByteView bytes);  // `0x` and lower-case digits
[[nodiscard]] std::string hex_quantity(Wei value);      // `0x0`, `0x1f`

// A member of an object; null when there is none.
[[nodiscard]] const Json& member(const Json& object, const char* name);

}  // namespace chains::jsonrpc
