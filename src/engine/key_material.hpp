#pragma once

#include <optional>
#include <string>
#include <vector>

#include "domain/bytes.hpp"

namespace engine {

// The public FHE key and the common reference string that clients encrypt with, and where they lie
// (relayer-api 1.12). Clients read the first URL of each list.
struct KeyMaterial {
    domain::Bytes32 key_id{};
    domain::Bytes32 crs_id{};
    std::vector<std::string> key_urls;
    std::vector<std::string> crs_urls;

    bool operator==(const KeyMaterial&) const = default;
};

// Port: which key material is in use. Any thread. Never blocks: it tells what it knows.
class KeyDirectory {
public:
    virtual ~KeyDirectory() = default;
    // Nothing until the first look-up succeeded.
    [[nodiscard]] virtual std::optional<KeyMaterial> current() const = 0;
};

}  // namespace engine
