#include "api/commitment_check.hpp"

#include <string_view>
#include <variant>

#include "api/overloaded.hpp"
#include "domain/bytes.hpp"

namespace api {

namespace {

constexpr std::string_view refused = "invalid vote commitment";

std::string fields(std::string_view stage, std::string_view call_id,
                   const domain::VoteShare& share) {
    return fields_of(ShareCall{stage, std::string(call_id)}) +
           " round_id=" + domain::to_hex(share.round_id) +
           " proposal_id=" + std::to_string(share.proposal_id) +
           " tree_position=" + std::to_string(share.tree_position);
}

std::string refused_at(std::string_view what, const domain::VoteShare& share) {
    return std::string(refused).append(": ").append(what).append(" at position ") +
           std::to_string(share.tree_position);
}

}  // namespace

CommitmentCheck::CommitmentCheck(const engine::VoteChain& votes, ports::Logger& logger,
                                 const ports::Clock& clock)
    : trees_(votes.trees),
      commitments_(votes.commitments),
      hash_errors_("vote_commitment_failed", logger, clock),
      leaf_errors_("leaf_read_failed", logger, clock) {}

bool CommitmentCheck::is_on() const {
    return trees_ != nullptr && commitments_ != nullptr;
}

std::optional<std::string> CommitmentCheck::problem_of(const domain::VoteShare& share,
                                                       std::string_view call_id) {
    using Problem = std::optional<std::string>;
    const auto commitment = commitments_->hash(share.round_id, share.shares_hash, share.proposal_id,
                                               share.vote_decision);
    if (!commitment) {
        hash_errors_.note(fields("vc_hash", call_id, share),
                          "an input is no canonical field element");
        return std::string(refused);
    }
    return std::visit(
        Overloaded{[&](const domain::Bytes32& leaf) -> Problem {
                       if (leaf == *commitment) return {};
                       return refused_at("hash mismatch", share);
                   },
                   [&](const engine::NoLeaf&) -> Problem { return refused_at("no leaf", share); },
                   [&](const engine::Unreachable& unreachable) -> Problem {
                       leaf_errors_.note(fields("leaf_read", call_id, share), unreachable.reason);
                       return std::string(refused).append(": tree read error");
                   }},
        trees_->leaf(share.round_id, share.tree_position));
}

}  // namespace api
