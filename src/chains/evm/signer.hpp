#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "domain/bytes.hpp"

namespace chains::evm {

// secp256k1; `s` is in the lower half of the order (EIP-2).
struct Signature {
    domain::Bytes32 r{};
    domain::Bytes32 s{};
    std::uint8_t y_parity = 0;  // 0 or 1
};

// Port: holds the relayer's key. Any thread. sign() runs inside the processor's step, so a signer
// beyond the network holds up every commit for its round trip.
class Signer {
public:
    virtual ~Signer() = default;
    [[nodiscard]] virtual const domain::Address& address() const = 0;
    [[nodiscard]] virtual Signature sign(const domain::Bytes32& digest) const = 0;
};

// Signs with a key in memory, which is wiped when it goes. Deterministic nonces (RFC 6979).
// Throws std::invalid_argument, without the key in its text, unless `key` is 64 hex digits with or
// without `0x` that are a number from 1 to the order of the curve less 1.
[[nodiscard]] std::unique_ptr<Signer> private_key_signer(std::string_view key);

}  // namespace chains::evm
