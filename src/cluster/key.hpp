#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "domain/bytes.hpp"

namespace cluster {

// Names a key without telling of it.
using Fingerprint = std::array<std::uint8_t, 4>;

// The secret that all nodes of a book share. It seals what lies in the database, and nodes prove to
// each other that they have it; it never travels itself. Wiped at the end. Any thread.
class Key {
public:
    explicit Key(const domain::Bytes32& secret);
    ~Key();
    Key(const Key&) = delete;
    Key& operator=(const Key&) = delete;

    [[nodiscard]] domain::ByteView secret() const { return secret_; }
    [[nodiscard]] const Fingerprint& fingerprint() const { return fingerprint_; }

private:
    domain::Bytes32 secret_;
    Fingerprint fingerprint_{};
};

// The current key seals and proves; both keys open and are believed. To rotate: every node gets the
// new key as `other` first, then every node gets it as the current one. Any thread.
class Keys {
public:
    explicit Keys(const domain::Bytes32& current,
                  const std::optional<domain::Bytes32>& other = std::nullopt);

    [[nodiscard]] const Key& current() const { return current_; }
    [[nodiscard]] const Key* other() const { return other_ ? &*other_ : nullptr; }
    // Null: neither is it.
    [[nodiscard]] const Key* with(const Fingerprint& fingerprint) const;
    // `key 1a2b3c4d`, or `keys 1a2b3c4d and 5e6f7a8b`.
    [[nodiscard]] std::string names() const;

private:
    Key current_;
    std::optional<Key> other_;
};

// Eight hexadecimal digits.
[[nodiscard]] std::string name_of(const Fingerprint& fingerprint);

// What a key file holds: 32 bytes, or 64 hexadecimal digits with white space after them. Nothing
// for any other content. Whoever gets the key wipes it.
[[nodiscard]] std::optional<domain::Bytes32> key_in(std::string_view content);

}  // namespace cluster
