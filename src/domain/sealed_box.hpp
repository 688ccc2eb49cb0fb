#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "domain/bytes.hpp"

namespace domain {

// Seals bytes for one backup: AES-256-GCM under a key of its own, derived from the operator's key
// and a salt (HKDF-SHA256, RFC 5869), so that keys of two backups never meet the same nonce. What
// is sealed belongs to its place: `label` says where it stands, and it opens nowhere else. One
// thread.
class SealedBox {
public:
    // Both 32 bytes.
    SealedBox(ByteView key, ByteView salt);
    ~SealedBox();
    SealedBox(const SealedBox&) = delete;
    SealedBox& operator=(const SealedBox&) = delete;

    // `nonce`: 12 random bytes, another one each time. Nonce, ciphertext and tag one behind the
    // other.
    [[nodiscard]] Bytes seal(ByteView plain, std::string_view label, ByteView nonce) const;
    // Nothing: another key, another label, or changed bytes. Whoever gets the bytes wipes them.
    [[nodiscard]] std::optional<Bytes> open(ByteView sealed, std::string_view label) const;

    static constexpr std::size_t nonce_bytes = 12;
    static constexpr std::size_t tag_bytes = 16;

private:
    Bytes32 key_{};
};

}  // namespace domain
