#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "chains/votes/nullifier_cache.hpp"
#include "chains/votes/prover/prover.hpp"
#include "chains/votes/reveal.hpp"
#include "engine/gateway.hpp"
#include "engine/task_group.hpp"
#include "engine/vote_chain.hpp"
#include "ports/clock.hpp"
#include "ports/executor.hpp"
#include "ports/logger.hpp"

namespace chains::votes {

// Reveals vote shares on a chain of their own (share-helper 4.3). Preparing is the round check, the
// Merkle path and the proof; what is sealed is the message itself; sending POSTs it once. The chain
// never answers anything but the receipt. Orders of other kinds are a bug.
//
// Each order is one task of `executor`, which therefore needs as many threads as proofs may run
// at once; those that confirm are tasks of `confirming`, so that no look-up waits for a proof.
class Gateway final : public engine::Gateway {
public:
    // `nullifiers`: who can be asked what is revealed; null: nobody.
    Gateway(votes::RevealChain& chain, votes::prover::Prover& prover, const ports::Clock& clock,
            ports::Executor& executor, ports::Executor& confirming, ports::Logger& logger,
            engine::VoteObserver& observer, engine::Nullifiers* nullifiers);

    void listen(engine::GatewayEvents& events, const engine::Resume& resume) override;
    void check(std::vector<engine::CheckOrder> orders) override;
    void prepare(std::vector<engine::PrepareOrder> orders) override;
    void send(std::vector<engine::SendOrder> orders) override;
    void expect_proofs(std::size_t proofs) override { prover_.expect(proofs); }
    void confirm(std::vector<engine::ConfirmOrder> orders) override;
    // The chain knows no nonces of ours: it is 0, and the hash is the SHA-256 of the message.
    [[nodiscard]] engine::Sealed seal(const domain::RequestId& id, domain::Kind kind,
                                      const engine::Plan& plan) override;
    void wind_down() override;
    void stop() override;
    [[nodiscard]] std::optional<std::string> problem() const override;
    // `vote_chain` and `vote_prover`.
    [[nodiscard]] std::vector<engine::Dependency> dependencies() const override;

private:
    [[nodiscard]] engine::PrepareOutcome prepare_one(const engine::PrepareOrder& order);
    [[nodiscard]] engine::PrepareOutcome reveal_of(std::int64_t id, const domain::VoteShare& share);
    [[nodiscard]] engine::PrepareOutcome proved(std::int64_t id, const domain::VoteShare& share,
                                                std::uint64_t anchor_height,
                                                const votes::MerklePath& path);
    [[nodiscard]] votes::prover::ProveOutcome prove(const votes::prover::Witness& witness);
    [[nodiscard]] engine::SendOutcome send_one(const engine::SendOrder& order);
    // What whoever can be asked says of the message's share.
    [[nodiscard]] engine::NullifierAnswer look_up(const engine::Sealed& sealed);

    votes::RevealChain& chain_;
    votes::prover::Prover& prover_;
    const ports::Clock& clock_;
    ports::Logger& logger_;
    engine::VoteObserver& observer_;
    engine::Nullifiers* const nullifiers_;
    std::atomic<engine::GatewayEvents*> events_{nullptr};
    votes::NullifierCache proved_;

    // Last: it ends before what its work refers to.
    engine::TaskGroup task_group_;
    engine::TaskGroup confirm_group_;
};

}  // namespace chains::votes
