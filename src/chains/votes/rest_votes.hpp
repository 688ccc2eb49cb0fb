#pragma once

#include <memory>
#include <optional>
#include <string>

#include "chains/votes/gateway.hpp"
#include "chains/votes/options.hpp"
#include "chains/votes/prover/prover.hpp"
#include "chains/votes/rest/rest_chain.hpp"
#include "chains/votes/rest/rest_nullifiers.hpp"
#include "chains/votes/tree/round_trees.hpp"
#include "chains/votes/tree/vote_commitment.hpp"
#include "engine/vote_chain.hpp"
#include "ports/clock.hpp"
#include "ports/executor.hpp"
#include "ports/logger.hpp"

namespace chains::votes {

// A vote chain behind its REST interface with everything that revealing shares on it takes. Any
// thread.
class RestVotes {
public:
    // `executor` needs as many threads as proofs may run at once; look-ups that confirm reveals run
    // on `confirming`. Throws std::invalid_argument that
    // names what can not work, without secrets.
    RestVotes(const Options& options, const ports::Clock& clock, ports::Executor& executor,
              ports::Executor& confirming, ports::Logger& logger, engine::VoteObserver& observer);

    [[nodiscard]] engine::Gateway& gateway() { return gateway_; }
    // Whose look-ups are left out by the options is missing in it.
    [[nodiscard]] engine::VoteChain chain();
    // Look-ups under way end as soon as they can, and so does every later one.
    void stop_lookups();

private:
    // What Gateway asks, each part of it elsewhere.
    class Sources final : public votes::RevealChain {
    public:
        Sources(votes::rest::RestChain& chain, votes::tree::RoundTrees& trees,
                votes::rest::RestNullifiers* nullifiers)
            : chain_(chain), trees_(trees), nullifiers_(nullifiers) {}

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
        void stop() override {
            chain_.stop();
            if (nullifiers_ != nullptr) nullifiers_->stop();
        }
        [[nodiscard]] std::optional<std::string> problem() const override {
            return chain_.problem();
        }

    private:
        votes::rest::RestChain& chain_;
        votes::tree::RoundTrees& trees_;
        votes::rest::RestNullifiers* const nullifiers_;
    };

    const bool commitment_check_;
    votes::rest::RestChain chain_;
    votes::tree::RoundTrees trees_;
    std::unique_ptr<votes::rest::RestNullifiers> nullifiers_;
    votes::tree::PallasCommitmentHash commitments_;
    std::unique_ptr<votes::prover::Prover> prover_;
    Sources sources_;
    Gateway gateway_;
};

}  // namespace chains::votes
