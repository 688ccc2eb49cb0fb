#pragma once

#include "domain/bytes.hpp"
#include "domain/request.hpp"

namespace domain {

// What deduplication compares. Two requests with one `key` are the same thing asked twice;
// if their `content` differs as well they conflict (only vote shares can).
struct Identity {
    Bytes32 key{};
    Bytes32 content{};

    bool operator==(const Identity&) const = default;
};

// Relayer kinds: key = content = the content hash of relayer-api 2.2.
// Shares: key over (round, share index, proposal, tree position), content over the members that
// share-helper 2.3 compares, in canonical form.
[[nodiscard]] Identity identify(const Request& request);

}  // namespace domain
