#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "domain/identity.hpp"
#include "engine/contract_signatures.hpp"
#include "engine/gateway.hpp"
#include "engine/health.hpp"
#include "engine/key_material.hpp"
#include "engine/request_reader.hpp"
#include "engine/submitter.hpp"
#include "engine/vote_chain.hpp"
#include "engine/vote_queue.hpp"
#include "ports/executor.hpp"

namespace api_test {

// Takes everything and knows it again, as the engine does while nothing fails.
class MemorySubmitter : public engine::Submitter {
public:
    void submit(const domain::Request& request, const engine::SubmitOptions& given,
                engine::Reply reply) override {
        if (defect) throw std::runtime_error(*defect);
        requests.push_back(request);
        submit_options.push_back(given);
        reply(forced ? *forced : outcome_of(request));
    }

    // How many different ones were taken.
    [[nodiscard]] std::size_t stored() const { return known_.size(); }

    std::optional<engine::AcceptOutcome> forced;
    std::optional<std::string> defect;  // thrown
    std::vector<domain::Request> requests;
    std::vector<engine::SubmitOptions> submit_options;

private:
    engine::AcceptOutcome outcome_of(const domain::Request& request) {
        const domain::Identity identity = domain::identify(request);
        const auto [known, added] = known_.try_emplace(
            identity.key,
            Known{{static_cast<std::int64_t>(known_.size() + 1), 7}, identity.content});
        if (!added && known->second.content != identity.content) return engine::Conflict{};
        return engine::Accepted{known->second.id, !added, 3};
    }

    struct Known {
        domain::RequestId id;
        domain::Bytes32 content;
    };
    std::map<domain::Bytes32, Known> known_;
};

class ScriptedReader : public engine::RequestReader {
public:
    engine::FindOutcome find(const domain::RequestId&) override {
        if (defect) throw std::runtime_error(*defect);
        return outcome;
    }

    engine::FindOutcome outcome = engine::NotFound{};
    std::optional<std::string> defect;  // thrown
};

class ScriptedRounds : public engine::RoundDirectory {
public:
    engine::RoundAnswer find(const domain::Bytes32& round_id) override {
        ++calls;
        if (forced) return *forced;
        const auto round = rounds.find(domain::to_hex(round_id));
        if (round == rounds.end()) return engine::UnknownRound{};
        return engine::Round{domain::from_unix_ms(round->second * 1'000)};
    }

    std::map<std::string, std::int64_t> rounds{
        {"0a6fb635439fb6850c775a291f639975bd239745ed43dba2a9f220d707e9b55c", 4'102'444'800}};
    std::optional<engine::RoundAnswer> forced;
    int calls = 0;
};

// Knows one active round, with one leaf.
class ScriptedTrees : public engine::CommitmentTrees {
public:
    engine::TreeStatusAnswer status(const domain::Bytes32&) override { return active; }
    engine::TreeStatusAnswer active_status() override {
        ++reads;
        if (defect) throw std::runtime_error(*defect);
        return active;
    }
    engine::LeafAnswer leaf(const domain::Bytes32& round_id, std::uint64_t position) override {
        leaves_asked.emplace_back(round_id, position);
        return found;
    }

    engine::TreeStatusAnswer active = engine::TreeStatus{4'212, 90'233};
    engine::LeafAnswer found = engine::NoLeaf{};
    std::optional<std::string> defect;  // thrown
    int reads = 0;
    std::vector<std::pair<domain::Bytes32, std::uint64_t>> leaves_asked;
};

class ScriptedCommitments : public engine::CommitmentHash {
public:
    std::optional<domain::Bytes32> hash(const domain::Bytes32& round_id,
                                        const domain::Bytes32& shares_hash, std::uint32_t proposal,
                                        std::uint32_t decision) override {
        asked = {round_id, shares_hash, proposal, decision};
        return commitment;
    }

    struct Asked {
        domain::Bytes32 round_id{};
        domain::Bytes32 shares_hash{};
        std::uint32_t proposal_id = 0;
        std::uint32_t vote_decision = 0;
    };
    std::optional<domain::Bytes32> commitment = domain::Bytes32{7};
    Asked asked;
};

class ScriptedNullifiers : public engine::Nullifiers {
public:
    engine::NullifierAnswer find(const domain::Bytes32& round_id,
                                 const domain::Bytes32& nullifier) override {
        asked.emplace_back(round_id, nullifier);
        if (defect) throw std::runtime_error(*defect);
        return answer;
    }

    engine::NullifierAnswer answer = engine::NotRevealed{};
    std::optional<std::string> defect;  // thrown
    std::vector<std::pair<domain::Bytes32, domain::Bytes32>> asked;
};

// One round with all that an intake took, pending, until the test says otherwise.
class SubmitterQueue : public engine::VoteQueue {
public:
    explicit SubmitterQueue(const MemorySubmitter& submitter) : submitter_(submitter) {}

    engine::QueueAnswer rounds() override {
        if (forced) return *forced;
        std::vector<store::RoundCounts> rounds;
        if (submitter_.stored() > 0) {
            const auto& share = std::get<domain::VoteShare>(submitter_.requests.front());
            rounds.push_back({share.round_id, submitter_.stored(), submitter_.stored(), 0, 0});
        }
        return rounds;
    }

    std::optional<engine::QueueAnswer> forced;

private:
    const MemorySubmitter& submitter_;
};

// Runs what it gets at once in the caller's thread, or when the test says so. Any thread.
class ScriptedExecutor : public ports::Executor {
public:
    void run(Task task) override {
        {
            const std::lock_guard lock(mutex_);
            if (held_) {
                tasks_.push_back(std::move(task));
                return;
            }
        }
        task();
    }
    // Never by itself: no time passes here.
    void run_after(domain::Milliseconds, Task task) override {
        const std::lock_guard lock(mutex_);
        delayed_.push_back(std::move(task));
    }
    // Time enough for all that is delayed, in the caller's thread.
    void let_time_pass() {
        std::deque<Task> tasks;
        {
            const std::lock_guard lock(mutex_);
            tasks.swap(delayed_);
        }
        for (const Task& task : tasks) task();
    }

    // As a chain that gives no answer yet.
    void hold() {
        const std::lock_guard lock(mutex_);
        held_ = true;
    }
    // Runs what is held, in the caller's thread, and what comes later at once.
    void release() {
        std::deque<Task> tasks;
        {
            const std::lock_guard lock(mutex_);
            held_ = false;
            tasks.swap(tasks_);
        }
        for (const Task& task : tasks) task();
    }
    [[nodiscard]] std::size_t pending() const {
        const std::lock_guard lock(mutex_);
        return tasks_.size();
    }

private:
    mutable std::mutex mutex_;
    std::deque<Task> tasks_;
    std::deque<Task> delayed_;
    bool held_ = false;
};

class ScriptedContracts : public engine::ContractSignatures {
public:
    engine::SignatureAnswer ask(std::uint64_t host_chain_id, const domain::Address&,
                                const domain::Bytes32&, domain::ByteView) override {
        asked_chains.push_back(host_chain_id);
        return answer;
    }

    engine::SignatureAnswer answer = engine::SignatureInvalid{};
    std::vector<std::uint64_t> asked_chains;
};

class FixedHealth : public engine::Health {
public:
    std::vector<engine::Dependency> dependencies() const override { return given; }

    std::vector<engine::Dependency> given{
        {"database", true}, {"gateway_http", true}, {"gateway_listener_0", true}};
};

class FixedKeys : public engine::KeyDirectory {
public:
    std::optional<engine::KeyMaterial> current() const override { return given; }

    std::optional<engine::KeyMaterial> given;
};

}  // namespace api_test
