#pragma once

#include <cstdint>
#include <optional>

#include "domain/bytes.hpp"

namespace chains::evm {

// secp256k1; `s` is in the lower half of the order (EIP-2).
struct Signature {
    domain::Bytes32 r{};
    domain::Bytes32 s{};
    std::uint8_t y_parity = 0;  // 0 or 1

    bool operator==(const Signature&) const = default;
};

// Whose signature of the digest this is; nothing when it is nobody's, or `s` is in the upper half.
// Any thread.
[[nodiscard]] std::optional<domain::Address> recovered_account(const domain::Bytes32& digest,
                                                               const Signature& signature);

// The account of an uncompressed point: 0x04, x, y. Nothing when it is not on the curve.
[[nodiscard]] std::optional<domain::Address> account_of(domain::ByteView point);

// A DER signature (RFC 3279, 2.2.3) made with this account's key: with `s` low, and the parity by
// which the account is recovered. Nothing when it is no signature of the account.
[[nodiscard]] std::optional<Signature> from_der(domain::ByteView der, const domain::Bytes32& digest,
                                                const domain::Address& account);

}  // namespace chains::evm
