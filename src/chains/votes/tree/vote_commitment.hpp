#pragma once

#include <cstdint>
#include <optional>

#include "domain/bytes.hpp"
#include "engine/vote_chain.hpp"

namespace chains::votes::tree {

// The leaf a wallet's vote is in the tree (share-helper 1.4): Poseidon of the domain tag 1, round
// id, shares hash, proposal and decision. As in the reference helper a round id or shares hash that
// is no canonical field element has none, and is not reduced.
class PallasCommitmentHash : public engine::CommitmentHash {
public:
    // Any thread.
    [[nodiscard]] std::optional<domain::Bytes32> hash(const domain::Bytes32& round_id,
                                                      const domain::Bytes32& shares_hash,
                                                      std::uint32_t proposal_id,
                                                      std::uint32_t vote_decision) override;
};

}  // namespace chains::votes::tree
