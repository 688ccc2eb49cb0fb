#include "chains/votes/tree/vote_commitment.hpp"

#include <array>

#include "chains/votes/tree/pallas.hpp"
#include "chains/votes/tree/poseidon.hpp"

namespace chains::votes::tree {

namespace {

constexpr std::uint64_t domain_vote_commitment = 1;  // 0 is that of vote authority notes

}  // namespace

std::optional<domain::Bytes32> PallasCommitmentHash::hash(const domain::Bytes32& round_id,
                                                          const domain::Bytes32& shares_hash,
                                                          std::uint32_t proposal_id,
                                                          std::uint32_t vote_decision) {
    const std::optional<PallasField> round = PallasField::decode(round_id);
    const std::optional<PallasField> shares = PallasField::decode(shares_hash);
    if (!round || !shares) return std::nullopt;
    const std::array message{PallasField::from(domain_vote_commitment), *round, *shares,
                             PallasField::from(proposal_id), PallasField::from(vote_decision)};
    return poseidon_hash(message).encode();
}

}  // namespace chains::votes::tree
