#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "chains/votes/gateway.hpp"
#include "engine/vote_chain.hpp"
#include "support/engine.hpp"
#include "support/requests.hpp"
#include "support/virtual_time.hpp"

namespace votes_test {

using chains::votes::MerklePath;
using chains::votes::NotRevealedNow;
using chains::votes::PathOutOfRange;
using chains::votes::RoundActive;
using chains::votes::RoundNotActive;
using chains::votes::prover::NotProved;
using chains::votes::prover::Proof;
using chains::votes::prover::ProveOutcome;
using chains::votes::prover::Witness;

// A chain that says what it is told to. Any thread.
class ScriptedChain : public chains::votes::RevealChain {
public:
    struct Tree {
        std::uint64_t leaf_count = 1'000;
        std::uint64_t anchor_height = 90'233;
        std::uint8_t mark = 0;  // first byte of every path in it
    };

    chains::votes::RoundStatusAnswer round = RoundActive{};
    std::map<domain::Bytes32, Tree> trees;  // others are like a Tree{}
    std::optional<engine::TreeStatusAnswer> tree_answer;
    std::function<chains::votes::RevealOutcome(const std::string& json)> on_reveal =
        [](const std::string&) {
            return domain::ShareRevealed{"9F3C0A", false};
        };

    [[nodiscard]] chains::votes::RoundStatusAnswer round_status(const domain::Bytes32&) override {
        return round;
    }
    [[nodiscard]] engine::TreeStatusAnswer tree_status(const domain::Bytes32& round_id) override {
        if (tree_answer) return *tree_answer;
        const Tree& tree = trees[round_id];
        return engine::TreeStatus{tree.leaf_count, tree.anchor_height};
    }
    [[nodiscard]] chains::votes::PathAnswer path(const domain::Bytes32& round_id,
                                                 std::uint32_t position,
                                                 std::uint64_t anchor_height) override {
        const Tree& tree = trees[round_id];
        CHECK(anchor_height == tree.anchor_height);
        if (position >= tree.leaf_count) return PathOutOfRange{};
        MerklePath path{};
        path[0] = tree.mark;
        return path;
    }
    [[nodiscard]] chains::votes::RevealOutcome reveal(const std::string& json) override {
        {
            const std::lock_guard lock(mutex_);
            revealed_.push_back(json);
        }
        return on_reveal(json);
    }
    void stop() override {}
    [[nodiscard]] std::optional<std::string> problem() const override { return std::nullopt; }

    [[nodiscard]] std::vector<std::string> revealed() const {
        const std::lock_guard lock(mutex_);
        return revealed_;
    }

private:
    mutable std::mutex mutex_;
    std::vector<std::string> revealed_;
};

// A prover that does what it is told to. Any thread.
class ScriptedProver : public chains::votes::prover::Prover {
public:
    std::function<ProveOutcome(const Witness&)> on_prove = [](const Witness& witness) {
        return proof_of(witness);
    };

    [[nodiscard]] static Proof proof_of(const Witness& witness) {
        return {domain::Bytes(64, 7), domain::sha256(witness.primary_blind), std::nullopt};
    }

    [[nodiscard]] ProveOutcome prove(const Witness& witness) override {
        {
            const std::lock_guard lock(mutex_);
            if (stopped_) return engine::Unreachable{"stopping"};
            ++calls_;
        }
        return on_prove(witness);
    }
    void stop() override {
        const std::lock_guard lock(mutex_);
        stopped_ = true;
    }
    [[nodiscard]] std::optional<std::string> problem() const override { return std::nullopt; }
    [[nodiscard]] std::size_t calls() const {
        const std::lock_guard lock(mutex_);
        return calls_;
    }

private:
    mutable std::mutex mutex_;
    std::size_t calls_ = 0;
    bool stopped_ = false;
};

// Who knows what is revealed. Any thread.
class ScriptedNullifiers : public engine::Nullifiers {
public:
    std::function<engine::NullifierAnswer()> on_find = [] { return engine::NotRevealed{}; };

    [[nodiscard]] engine::NullifierAnswer find(const domain::Bytes32&,
                                               const domain::Bytes32& nullifier) override {
        {
            const std::lock_guard lock(mutex_);
            asked_.push_back(nullifier);
        }
        return on_find();
    }
    [[nodiscard]] std::vector<domain::Bytes32> asked() const {
        const std::lock_guard lock(mutex_);
        return asked_;
    }

private:
    mutable std::mutex mutex_;
    std::vector<domain::Bytes32> asked_;
};

// The engine on virtual time with a vote gateway between a scripted chain and a scripted prover.
struct VotesWorld {
    explicit VotesWorld(bool can_ask = false)
        : gateway(chain, prover, clock, executor, executor, logger, observer,
                  can_ask ? &nullifiers : nullptr) {}

    support::VirtualClock clock;
    support::VirtualExecutor executor{clock};
    support::RecordingLogger logger;
    engine::VoteObserver observer;
    ScriptedChain chain;
    ScriptedProver prover;
    ScriptedNullifiers nullifiers;
    chains::votes::Gateway gateway;
    support::Engine engine{clock, executor, gateway};

    domain::RequestId submit(const domain::VoteShare& share) {
        return engine.submit(domain::Request(share));
    }
    void run_for(domain::Nanoseconds time) { engine.run_for(time); }
    [[nodiscard]] domain::Status status(const domain::RequestId& id) { return engine.status(id); }
    [[nodiscard]] store::Row row(const domain::RequestId& id) { return engine.row(id); }
    [[nodiscard]] domain::Failure failure(const domain::RequestId& id) {
        return engine.failure(id);
    }
};

}  // namespace votes_test
