#pragma once

#include <string>

#include "cluster/key.hpp"
#include "domain/bytes.hpp"

namespace cluster {

// How one node shows another that it has the cluster key, without the key on the way. The one that
// wants to know makes a nonce, and uses it once.
struct Challenge {
    domain::Bytes32 nonce{};  // random
    std::string verifier;     // name of the node that asks
    std::string prover;       // name of the node that is to answer
    std::string purpose;      // what the answer allows, such as a forwarded request
};

// The answer: HMAC-SHA256 under a key made from the current cluster key for this alone. Both names
// are in it, so it can not be sent back to the one who gave it. Any thread.
[[nodiscard]] domain::Bytes32 prove(const Keys& keys, const Challenge& challenge);

// Whether `proof` answers it with either key. Any thread.
[[nodiscard]] bool is_proof(const Keys& keys, const Challenge& challenge, domain::ByteView proof);

}  // namespace cluster
