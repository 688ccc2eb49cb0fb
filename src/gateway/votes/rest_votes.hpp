#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/clock.hpp"
#include "engine/executor.hpp"
#include "engine/journal.hpp"
#include "engine/vote_chain.hpp"
#include "gateway/votes/options.hpp"
#include "gateway/votes/prover/prover.hpp"
#include "gateway/votes/rest/rest_chain.hpp"
#include "gateway/votes/rest/rest_nullifiers.hpp"
#include "gateway/votes/tree/round_trees.hpp"
#include "gateway/votes/tree/vote_commitment.hpp"
#include "gateway/votes/vote_gateway.hpp"

namespace gateway {

// A vote chain behind its REST interface with everything that revealing shares on it takes. Any
// thread.
class RestVotes {
public:
    // `executor` needs as many threads as proofs may run at once. Throws std::invalid_argument that
    // names what can not work, without secrets.
    RestVotes(const VoteOptions& options, const engine::Clock& clock, engine::Executor& executor,
              engine::Journal& journal, engine::VoteObserver& observer);

    [[nodiscard]] engine::Gateway& gateway() { return gateway_; }
    // Whose look-ups are left out by the options is missing in it.
    [[nodiscard]] engine::VoteChain chain();
    // Look-ups under way end as soon as they can, and so does every later one.
    void stop_lookups();

private:
    // What VoteGateway asks, each part of it elsewhere.
    class Sources final : public votes::RevealChain {
    public:
        Sources(votes::RestChain& chain, votes::RoundTrees& trees) : chain_(chain), trees_(trees) {}

        [[nodiscard]] votes::RoundStatusAnswer round_status(
            const domain::Bytes32& round_id) override {
            return chain_.round_status(round_id);
        }
        [[nodiscard]] engine::TreeStatusAnswer tree_status(
            const domain::Bytes32& round_id) override {
            return trees_.status(round_id);
        }
        [[nodiscard]] votes::PathAnswer path(const domain::Bytes32& round_id,
                                             std::uint32_t position,
                                             std::uint64_t anchor_height) override {
            return trees_.path(round_id, position, anchor_height);
        }
        [[nodiscard]] votes::RevealOutcome reveal(const std::string& json) override {
            return chain_.reveal(json);
        }
        void stop() override { chain_.stop(); }
        [[nodiscard]] std::optional<std::string> trouble() const override {
            return chain_.trouble();
        }

    private:
        votes::RestChain& chain_;
        votes::RoundTrees& trees_;
    };

    const bool commitment_check_;
    votes::RestChain chain_;
    votes::RoundTrees trees_;
    std::unique_ptr<votes::RestNullifiers> nullifiers_;
    votes::PallasCommitmentHash commitments_;
    std::unique_ptr<votes::Prover> prover_;
    Sources sources_;
    VoteGateway gateway_;
};

}  // namespace gateway
