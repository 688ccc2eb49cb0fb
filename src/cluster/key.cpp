#include "cluster/key.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "domain/derived_key.hpp"

namespace cluster {

namespace {

constexpr std::string_view fingerprint_purpose = "posthouse cluster, fingerprint of the key, 1";

}  // namespace

Key::Key(const domain::Bytes32& secret) : secret_(secret) {
    const domain::Bytes32 derived = domain::derived_key(secret_, {}, fingerprint_purpose);
    std::copy_n(derived.begin(), fingerprint_.size(), fingerprint_.begin());
}

Key::~Key() {
    domain::wipe(secret_);
}

Keys::Keys(const domain::Bytes32& current, const std::optional<domain::Bytes32>& other)
    : current_(current) {
    if (other) other_.emplace(*other);
}

const Key* Keys::with(const Fingerprint& fingerprint) const {
    if (current_.fingerprint() == fingerprint) return &current_;
    return other_ && other_->fingerprint() == fingerprint ? &*other_ : nullptr;
}

std::string Keys::names() const {
    const std::string name = name_of(current_.fingerprint());
    return other_ ? "keys " + name + " and " + name_of(other_->fingerprint()) : "key " + name;
}

std::string name_of(const Fingerprint& fingerprint) {
    return domain::to_hex(fingerprint);
}

std::optional<domain::Bytes32> key_in(std::string_view content) {
    domain::Bytes32 key{};
    if (content.size() == key.size()) {
        std::ranges::copy(content, key.begin());
        return key;
    }
    content = content.substr(0, content.find_last_not_of(" \t\r\n") + 1);
    if (!domain::from_hex(content, key)) return std::nullopt;
    return key;
}

}  // namespace cluster
