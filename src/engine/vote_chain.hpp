#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "domain/bytes.hpp"
#include "domain/time.hpp"
#include "engine/gateway.hpp"

namespace engine {

// The ports to what a vote chain knows beside its rounds (share-helper 1.4 to 1.6, 5.2). Any
// thread; calls may block. Each call names its round, so that two rounds never mix.

struct TreeStatus {
    std::uint64_t leaf_count = 0;     // the next free index
    std::uint64_t anchor_height = 0;  // the newest height with a stored root; 0: none
};
using TreeStatusAnswer = std::variant<TreeStatus, UnknownRound, Unreachable>;

struct NoLeaf {};
using LeafAnswer = std::variant<domain::Bytes32, NoLeaf, Unreachable>;

// Port: the commitment trees of the rounds.
class CommitmentTrees {
public:
    virtual ~CommitmentTrees() = default;
    [[nodiscard]] virtual TreeStatusAnswer status(const domain::Bytes32& round_id) = 0;
    // Of the round that is active now; UnknownRound when none is.
    [[nodiscard]] virtual TreeStatusAnswer active_status() = 0;
    [[nodiscard]] virtual LeafAnswer leaf(const domain::Bytes32& round_id,
                                          std::uint64_t position) = 0;
};

// Port: which shares are revealed.
class Nullifiers {
public:
    virtual ~Nullifiers() = default;
    [[nodiscard]] virtual NullifierAnswer find(const domain::Bytes32& round_id,
                                               const domain::Bytes32& nullifier) = 0;
};

// Port: the hash a wallet's vote leaves in the tree (share-helper 1.4 point 1).
class CommitmentHash {
public:
    virtual ~CommitmentHash() = default;
    // Nothing when an input is no canonical field element. Does not block.
    [[nodiscard]] virtual std::optional<domain::Bytes32> hash(const domain::Bytes32& round_id,
                                                              const domain::Bytes32& shares_hash,
                                                              std::uint32_t proposal_id,
                                                              std::uint32_t vote_decision) = 0;
};

// What is there of them; a missing one is skipped as share-helper 1.4 and 1.5 have it.
struct VoteChain {
    RoundDirectory& rounds;
    CommitmentTrees* trees = nullptr;
    Nullifiers* nullifiers = nullptr;
    CommitmentHash* commitments = nullptr;
};

// Port: who wants to know how reveals go. Any thread; must be quick and must not throw.
class VoteObserver {
public:
    virtual ~VoteObserver() = default;
    enum class Proving { proved, failed, unreachable };
    virtual void proved(Proving /*outcome*/, domain::Nanoseconds /*took*/) {}
    // `http_status` 0: no answer; `code` absent: the answer held none.
    virtual void replied(int /*http_status*/, std::optional<std::int64_t> /*code*/) {}
};

}  // namespace engine
