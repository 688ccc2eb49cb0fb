#include "chains/votes/gateway.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <string>

#include "chains/votes/votes_world.hpp"
#include "platform/worker_pool.hpp"
#include "support/contains.hpp"

using namespace votes_test;
using namespace std::chrono_literals;
using domain::Status;

namespace {

constexpr auto moment = 10ms;

// Keeps what a gateway answers. Any thread.
class Answers : public engine::GatewayEvents {
public:
    void checked(std::vector<engine::Checked>) override {}
    void prepared(std::vector<engine::Prepared> events) override {
        const std::lock_guard lock(mutex_);
        for (engine::Prepared& event : events) prepared_.push_back(std::move(event));
        arrived_.notify_all();
    }
    void sent(std::vector<engine::Sent>) override {}
    void answered(engine::Answered) override {}

    [[nodiscard]] std::vector<engine::Prepared> wait_for(std::size_t count) {
        std::unique_lock lock(mutex_);
        arrived_.wait_for(lock, 20s, [&] { return prepared_.size() >= count; });
        return prepared_;
    }

private:
    std::mutex mutex_;
    std::condition_variable arrived_;
    std::vector<engine::Prepared> prepared_;
};

domain::VoteShare share_in_round(std::uint8_t round, std::uint64_t number) {
    domain::VoteShare share = support::vote_share(number);
    share.round_id.fill(round);
    return share;
}

}  // namespace

TEST_CASE("P1 happy path: one proof, one message, the share is revealed") {
    VotesWorld world;
    const auto id = world.submit(support::vote_share(7));
    world.run_for(moment);
    CHECK(world.status(id) == Status::completed);
    CHECK(world.prover.calls() == 1);
    REQUIRE(world.chain.revealed().size() == 1);
    CHECK(support::contains(world.chain.revealed()[0], "\"vote_comm_tree_anchor_height\":90233"));
    const auto view = world.engine.view(id).value();
    CHECK(domain::decode_result(view.result.value()) ==
          domain::Result{domain::ShareRevealed{"9F3C0A", false}});
}

TEST_CASE("P2 the chain refuses with code 5: the share waits again, one attempt is spent") {
    VotesWorld world;
    world.chain.on_reveal = [](const std::string&) {
        return NotRevealedNow{"code 5 (invalid proof): bad"};
    };
    const auto id = world.submit(support::vote_share(7));
    world.run_for(moment);
    CHECK(world.status(id) == Status::queued);
    CHECK(world.row(id).schedule.attempts == 1);
    world.run_for(60s);
    CHECK(world.status(id) == Status::failure);
    CHECK(world.chain.revealed().size() == 5);
    CHECK(support::contains(world.failure(id).text, "code 5"));
}

TEST_CASE("field 89: who can be asked has the last word about code 2") {
    struct Row {
        const char* label;
        chains::votes::RevealOutcome reply;
        std::optional<engine::NullifierAnswer> record;  // nothing: nobody can be asked
        Status status;
    };
    const domain::ShareRevealed already{"0A", true};
    const NotRevealedNow doubtful{"HTTP 422, code 2 of sdk", true};
    const NotRevealedNow refused{"HTTP 422, code 5"};
    const engine::Unreachable away{"connection refused"};
    for (const Row& row : std::vector<Row>{
             {"nobody to ask", already, std::nullopt, Status::completed},
             {"confirmed", already, engine::Revealed{}, Status::completed},
             {"pending", already, engine::NotRevealed{}, Status::queued},
             {"no answer", already, away, Status::completed},
             {"doubtful, nobody to ask", doubtful, std::nullopt, Status::queued},
             {"doubtful, confirmed", doubtful, engine::Revealed{}, Status::completed},
             {"doubtful, pending", doubtful, engine::NotRevealed{}, Status::queued},
             {"doubtful, no answer", doubtful, away, Status::queued},
             {"another code", refused, engine::Revealed{}, Status::queued},
         }) {
        CAPTURE(row.label);
        VotesWorld world{row.record.has_value()};
        world.chain.on_reveal = [&](const std::string&) { return row.reply; };
        if (row.record) world.nullifiers.on_find = [&] { return *row.record; };
        const auto id = world.submit(support::vote_share(7));
        world.run_for(moment);
        CHECK(world.status(id) == row.status);
        const bool is_done = row.status == Status::completed;
        CHECK(world.row(id).schedule.attempts == (is_done ? 0U : 1U));
        CHECK(world.engine.process().store.payload(id.sequence).has_value() != is_done);
    }
}

TEST_CASE("field 88: a reveal is confirmed by the nullifier and round of its message") {
    VotesWorld world{true};
    world.engine.options.shares.confirm_reveals = true;
    const domain::VoteShare share = support::vote_share(7);
    const auto id = world.submit(share);
    world.run_for(20s);
    CHECK(world.status(id) == Status::receipt_received);
    REQUIRE(world.nullifiers.asked().size() == 1);
    CHECK(world.nullifiers.asked()[0] == domain::sha256(share.primary_blind));

    // What escapes from a look-up is no answer, and no end of the process.
    world.nullifiers.on_find = []() -> engine::NullifierAnswer { throw std::runtime_error("no"); };
    world.run_for(3min);
    CHECK(world.status(id) == Status::receipt_received);
    CHECK(world.chain.revealed().size() == 1);

    world.nullifiers.on_find = [] { return engine::Revealed{}; };
    world.run_for(20s);
    CHECK(world.status(id) == Status::completed);
    CHECK_FALSE(world.engine.process().store.payload(id.sequence));
}

TEST_CASE("P4 a position beyond the tree is out of range: no proof, no message") {
    VotesWorld world;
    domain::VoteShare share = support::vote_share(999);
    world.chain.trees[share.round_id].leaf_count = 1;
    const auto id = world.submit(share);
    world.run_for(60s);
    CHECK(world.status(id) == Status::failure);
    CHECK(support::contains(world.failure(id).text, "out of range"));
    CHECK(world.prover.calls() == 0);
    CHECK(world.chain.revealed().empty());
}

TEST_CASE("P6 two shares of two rounds are proved at once, each with the path of its own tree") {
    ScriptedChain chain;
    ScriptedProver prover;
    support::VirtualClock clock;
    support::RecordingLogger logger;
    engine::VoteObserver observer;
    const domain::VoteShare first = share_in_round(1, 3);
    const domain::VoteShare second = share_in_round(2, 4);
    chain.trees[first.round_id] = {10, 100, 1};
    chain.trees[second.round_id] = {10, 200, 2};

    std::mutex mutex;
    std::condition_variable both;
    int inside = 0;
    prover.on_prove = [&](const Witness& witness) -> ProveOutcome {
        std::unique_lock lock(mutex);
        ++inside;
        both.notify_all();
        if (!both.wait_for(lock, 20s, [&] { return inside == 2; })) {
            return NotProved{"the other one never came"};
        }
        if (witness.merkle_path[0] != witness.round_id[0]) return NotProved{"foreign tree"};
        return ScriptedProver::proof_of(witness);
    };
    platform::WorkerPool workers(2);
    chains::votes::Gateway votes(chain, prover, clock, workers, workers, logger, observer, nullptr);
    Answers answers;
    votes.listen(answers, {});
    votes.prepare({{{1, 1}, std::make_shared<const domain::Request>(first)},
                   {{2, 2}, std::make_shared<const domain::Request>(second)}});
    const auto events = answers.wait_for(2);
    votes.stop();
    REQUIRE(events.size() == 2);
    for (const engine::Prepared& event : events) {
        CHECK(std::holds_alternative<engine::Plan>(event.outcome));
    }
}

namespace {

// What a chain that is behind, or asked too early, says of a round.
struct NotKnownAsActive {
    const char* label;
    std::function<void(ScriptedChain&)> says;
    std::string reason;
    std::size_t proofs = 0;  // 0: none is made
};

const std::vector<NotKnownAsActive>& rounds_not_known_as_active() {
    static const std::vector<NotKnownAsActive> all{
        {"no such round", [](ScriptedChain& chain) { chain.round = engine::UnknownRound{}; },
         "the chain does not know the round"},
        {"not active", [](ScriptedChain& chain) { chain.round = RoundNotActive{}; },
         "the round is not active"},
        {"no such tree", [](ScriptedChain& chain) { chain.tree_answer = engine::UnknownRound{}; },
         "the chain does not know the tree of the round"},
        {"refused as such",
         [](ScriptedChain& chain) {
             chain.on_reveal = [](const std::string&) -> chains::votes::RevealOutcome {
                 return engine::Unreachable{"HTTP 422, code 4 (round not active)"};
             };
         },
         "HTTP 422, code 4 (round not active)", 1},
    };
    return all;
}

}  // namespace

TEST_CASE("a share is not thrown away because its chain does not know its round as active") {
    for (const NotKnownAsActive& row : rounds_not_known_as_active()) {
        CAPTURE(row.label);
        VotesWorld world;
        world.engine.vote_end = world.clock.wall() + 1h;
        row.says(world.chain);
        const auto id = world.submit(support::vote_share(1));
        world.run_for(10min);
        CHECK(world.status(id) == Status::queued);
        CHECK(world.row(id).schedule.attempts == 0);
        CHECK((world.prover.calls() > 0) == (row.proofs > 0));
        CHECK(world.engine.logger.count("share_waits") == 1);
        CHECK(world.engine.logger.count("reason=\"" + row.reason + "\" action=") == 1);
        world.chain.round = RoundActive{};
        world.chain.tree_answer.reset();
        world.chain.on_reveal = [](const std::string&) { return domain::ShareRevealed{"", false}; };
        world.run_for(31s);
        CHECK(world.status(id) == Status::completed);
        CHECK(world.row(id).schedule.attempts == 0);
    }
}

TEST_CASE("further: with strict_attempts a round not known as active costs an attempt, no proof") {
    for (const NotKnownAsActive& row : rounds_not_known_as_active()) {
        CAPTURE(row.label);
        VotesWorld world;
        world.engine.options.shares.strict_attempts = true;
        row.says(world.chain);
        const auto id = world.submit(support::vote_share(1));
        world.run_for(moment);
        CHECK(world.status(id) == Status::queued);
        CHECK(world.row(id).schedule.attempts == 1);
        CHECK(world.prover.calls() == row.proofs);
        world.run_for(31s);
        CHECK(world.status(id) == Status::failure);
        CHECK(world.failure(id).text == row.reason);
    }
}

TEST_CASE("a share that waited for its round ends with it, wiped, and the alert says why") {
    for (const NotKnownAsActive& row : rounds_not_known_as_active()) {
        CAPTURE(row.label);
        VotesWorld world;
        world.engine.vote_end = world.clock.wall() + 10min;
        row.says(world.chain);
        const auto id = world.submit(support::vote_share(1));
        world.run_for(10min + 2s);
        CHECK(world.status(id) == Status::timed_out);
        CHECK_FALSE(world.engine.process().store.payload(id.sequence));
        CHECK(world.engine.logger.count("round_closed_with_unsubmitted_shares") == 1);
        CHECK(world.engine.logger.count("unsubmitted=1 reason=\"" + row.reason + "\"") == 1);
    }
}

TEST_CASE("success leaves the count of attempts alone") {
    VotesWorld world;
    world.chain.on_reveal = [](const std::string&) { return NotRevealedNow{"code 5"}; };
    const auto id = world.submit(support::vote_share(1));
    world.run_for(moment);
    CHECK(world.row(id).schedule.attempts == 1);
    world.chain.on_reveal = [](const std::string&) { return domain::ShareRevealed{"", false}; };
    world.run_for(3s);
    CHECK(world.status(id) == Status::completed);
    CHECK(world.row(id).schedule.attempts == 1);
}

TEST_CASE("further: an exception in the prover is one attempt, and the siblings finish") {
    VotesWorld world;
    const domain::VoteShare bad = support::vote_share(1);
    world.prover.on_prove = [&](const Witness& witness) -> ProveOutcome {
        if (witness.primary_blind == bad.primary_blind) throw std::runtime_error("prover broke");
        return ScriptedProver::proof_of(witness);
    };
    const auto id = world.submit(bad);
    const auto sibling = world.submit(support::vote_share(2));
    const auto other = world.submit(support::vote_share(3));
    world.run_for(moment);
    CHECK(world.status(id) == Status::queued);
    CHECK(world.row(id).schedule.attempts == 1);
    CHECK(world.status(sibling) == Status::completed);
    CHECK(world.status(other) == Status::completed);
    CHECK(world.logger.count("stage=panic") == 1);
}

TEST_CASE("an exception on the way to the chain is one attempt") {
    VotesWorld world;
    world.chain.on_reveal = [](const std::string&) -> chains::votes::RevealOutcome {
        throw std::runtime_error("broke at http://user:hunter2@chain.test/");
    };
    const auto id = world.submit(support::vote_share(1));
    world.run_for(moment);
    CHECK(world.row(id).schedule.attempts == 1);
    CHECK(world.logger.count("hunter2") == 0);
}

TEST_CASE("a proof that is empty or too large costs an attempt and is not sent") {
    VotesWorld world;
    std::size_t bytes = 0;
    world.prover.on_prove = [&](const Witness& witness) -> ProveOutcome {
        Proof proof = ScriptedProver::proof_of(witness);
        proof.bytes.resize(bytes);
        return proof;
    };
    for (const std::size_t size : {std::size_t{0}, chains::votes::prover::proof_bytes_max + 1}) {
        CAPTURE(size);
        bytes = size;
        const auto id = world.submit(support::vote_share(10 + size % 7));
        world.run_for(moment);
        CHECK(world.row(id).schedule.attempts == 1);
    }
    CHECK(world.chain.revealed().empty());
    bytes = chains::votes::prover::proof_bytes_max;
    const auto id = world.submit(support::vote_share(30));
    world.run_for(moment);
    CHECK(world.status(id) == Status::completed);
}

TEST_CASE("the nullifier of another share costs an attempt and is not sent") {
    VotesWorld world;
    domain::Bytes32 first{};
    world.prover.on_prove = [&](const Witness& witness) -> ProveOutcome {
        Proof proof = ScriptedProver::proof_of(witness);
        if (first == domain::Bytes32{}) first = proof.nullifier;
        proof.nullifier = first;
        return proof;
    };
    const auto own = world.submit(support::vote_share(1));
    world.run_for(moment);
    const auto other = world.submit(support::vote_share(2));
    world.run_for(moment);
    CHECK(world.status(own) == Status::completed);
    CHECK(world.status(other) == Status::queued);
    CHECK(world.row(other).schedule.attempts == 1);
    CHECK(world.chain.revealed().size() == 1);
    world.prover.on_prove = [](const Witness& witness) {
        return ScriptedProver::proof_of(witness);
    };
    world.run_for(3s);
    CHECK(world.status(other) == Status::completed);
}

TEST_CASE("a share keeps its nullifier over its attempts, and old ones are forgotten") {
    chains::votes::NullifierCache memory(2);
    const domain::Bytes32 round{};
    const auto nullifier = [](std::uint8_t number) {
        domain::Bytes32 bytes{};
        bytes.fill(number);
        return bytes;
    };
    CHECK(memory.belongs(round, nullifier(1), 1));
    CHECK(memory.belongs(round, nullifier(1), 1));
    CHECK_FALSE(memory.belongs(round, nullifier(1), 2));
    CHECK(memory.belongs(nullifier(9), nullifier(1), 2));  // of another round
    CHECK(memory.belongs(round, nullifier(3), 3));
    CHECK(memory.belongs(round, nullifier(1), 2));
}

TEST_CASE("no proof begins before the tree of the round is there") {
    VotesWorld world;
    SUBCASE("an empty tree") {
        world.chain.tree_answer = engine::TreeStatus{0, 7};
    }
    SUBCASE("a tree without an anchor") {
        world.chain.tree_answer = engine::TreeStatus{1'000, 0};
    }
    const auto id = world.submit(support::vote_share(1));
    world.run_for(moment);
    CHECK(world.status(id) == Status::queued);
    CHECK(world.row(id).schedule.attempts == 1);
    CHECK(world.prover.calls() == 0);
}

TEST_CASE("a chain or a prover that can not be reached costs no attempt") {
    VotesWorld world;
    const engine::Unreachable away{"connection refused"};
    SUBCASE("round") {
        world.chain.round = away;
    }
    SUBCASE("tree") {
        world.chain.tree_answer = away;
    }
    SUBCASE("prover") {
        world.prover.on_prove = [&](const Witness&) -> ProveOutcome { return away; };
    }
    SUBCASE("reveal") {
        world.chain.on_reveal = [&](const std::string&) -> chains::votes::RevealOutcome {
            return away;
        };
    }
    const auto id = world.submit(support::vote_share(1));
    world.run_for(5min);
    CHECK(world.status(id) == Status::queued);
    CHECK(world.row(id).schedule.attempts == 0);
    world.chain.round = RoundActive{};
    world.chain.tree_answer.reset();
    world.prover.on_prove = [](const Witness& witness) {
        return ScriptedProver::proof_of(witness);
    };
    world.chain.on_reveal = [](const std::string&) { return domain::ShareRevealed{"", true}; };
    world.run_for(31s);
    CHECK(world.status(id) == Status::completed);
}

TEST_CASE("when a stop is near no proof goes on, and no attempt is spent for it") {
    VotesWorld world;
    world.engine.options.shares.strict_attempts = true;
    const auto id = world.submit(support::vote_share(1));
    world.engine.process().inbox.stop();
    world.gateway.wind_down();
    world.run_for(moment);
    CHECK(world.status(id) == Status::queued);
    CHECK(world.row(id).schedule.attempts == 0);
    CHECK(world.prover.calls() == 0);
}

TEST_CASE("what is sealed is the message, and its hash names it") {
    VotesWorld world;
    const engine::Sealed sealed =
        world.gateway.seal({1, 1}, domain::Kind::share, engine::Plan{{1, 2, 3}});
    CHECK(sealed.bytes == domain::Bytes{1, 2, 3});
    CHECK(sealed.hash == domain::sha256(domain::Bytes{1, 2, 3}));
}
