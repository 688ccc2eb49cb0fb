#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "domain/bytes.hpp"
#include "domain/kind.hpp"
#include "domain/request.hpp"
#include "domain/request_id.hpp"

namespace chains::loopback {

using Salt = std::array<std::uint8_t, 16>;

// What a transaction of this chain is about. Holds digests instead of payloads, so it stays small
// and carries no secret, yet everything the chain's answers are made from.
struct Draft {
    domain::Kind kind = domain::Kind::input_proof;
    domain::RequestId id;
    // Input proofs: digest of the ciphertext; decrypts: of the whole request; shares: nullifier.
    domain::Bytes32 content{};
    std::uint64_t chain_id = 0;  // input proofs: host chain of the handles to make
    std::uint32_t handles = 0;   // how many the answer is about
    domain::Bytes extra_data;    // what the answer echoes

    bool operator==(const Draft&) const = default;
};

struct Transaction {
    Draft draft;
    std::uint64_t nonce = 0;
    Salt salt{};  // two transactions never have the same hash

    bool operator==(const Transaction&) const = default;
};

// The digest that stands for a request on this chain. For a share: its nullifier, a digest over
// round, share index, proposal and tree position.
[[nodiscard]] domain::Bytes32 content_of(const domain::Request& request);

// `proof_handles`: how many handles an input proof is going to have.
[[nodiscard]] Draft draft_of(const domain::RequestId& id, const domain::Request& request,
                             std::uint32_t proof_handles);

// What the chain should include at most once: the request; for a share its nullifier.
[[nodiscard]] domain::Bytes subject_of(const Draft& draft);

[[nodiscard]] domain::Bytes encode(const Draft& draft);

// The bytes of a transaction: those of its draft, then nonce and salt.
[[nodiscard]] domain::Bytes seal(domain::ByteView draft, std::uint64_t nonce, const Salt& salt);

// Nothing unless the bytes are exactly what seal() makes of an encoded draft.
[[nodiscard]] std::optional<Transaction> decode_transaction(domain::ByteView bytes);

// The id the chain gives a request, from the hash of the transaction that brought it.
[[nodiscard]] domain::Bytes32 reference_of(const domain::Bytes32& hash);

// The id of a request that somebody else brought.
[[nodiscard]] domain::Bytes32 foreign_reference_of(const domain::Bytes32& hash);

}  // namespace chains::loopback
