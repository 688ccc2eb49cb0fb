#pragma once

#include <string>
#include <string_view>

#include "domain/bytes.hpp"

namespace domain {

// Keccak-256 with the padding Ethereum uses, which is not SHA3-256's.
[[nodiscard]] Bytes32 keccak256(ByteView bytes);
[[nodiscard]] Bytes32 keccak256(std::string_view text);

// `0x` and mixed-case digits (EIP-55).
[[nodiscard]] std::string checksummed(const Address& address);

}  // namespace domain
