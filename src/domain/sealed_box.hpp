#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "domain/bytes.hpp"

namespace domain {

// Seals bytes: AES-256-GCM under a key of its own, derived from the operator's key and a salt, so
// that two backups or two entries of a journal never meet the same nonce under one key. What is
// sealed belongs to its place: `label` says where it stands, and it opens nowhere else. One thread.
class SealedBox {
public:
    static constexpr std::string_view backup = "posthouse backup of vote shares, 1";

    // Both 32 bytes. `purpose`: what boxes of it hold; those of another one do not open it.
    SealedBox(ByteView key, ByteView salt, std::string_view purpose = backup);
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
