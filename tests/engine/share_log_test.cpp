// What the log says of shares: failures always, how many and when only if wanted, secrets never
// (share-helper 7).

#include <algorithm>
#include <chrono>
#include <string>

#include "support/world.hpp"

using domain::Status;
using engine::PrepareOrder;
using engine::PrepareOutcome;
using engine::SendOrder;
using engine::SendOutcome;
using ports::LogLevel;
using namespace std::chrono_literals;

namespace {

std::string name_of(const domain::VoteShare& share) {
    return "round_id=" + domain::to_hex(share.round_id) +
           " share_index=" + std::to_string(share.share_index);
}

std::size_t lines_of_shares(support::World& world, ports::LogLevel level) {
    const auto lines = world.engine.logger.lines();
    return static_cast<std::size_t>(std::ranges::count_if(lines, [&](const auto& line) {
        return line.level == level && line.text.starts_with("share");
    }));
}

// One of each fate: revealed, revealed by somebody else, refused twice, without a prover once.
void live(support::World& world) {
    std::size_t refusals = 0;
    std::size_t troubles = 0;
    world.gateway.on_prepare = [&](const PrepareOrder& order) -> PrepareOutcome {
        const auto position = std::get<domain::VoteShare>(*order.request).tree_position;
        if (position == 3 && ++refusals <= 2) {
            return engine::Rejected{
                {domain::Reason::internal_error, "asked http://u:k@host/secret: code 5", {}}};
        }
        if (position == 4 && ++troubles <= 3) return engine::Unreachable{"no http://host/secret"};
        return engine::Plan{};
    };
    std::optional<domain::RequestId> already;
    world.gateway.on_send = [&](const SendOrder& order) -> SendOutcome {
        return engine::Receipt{
            order.sealed.back().hash, {}, domain::ShareRevealed{"AB", order.id == already}};
    };
    for (std::uint64_t number = 1; number <= 4; ++number) {
        const auto id = world.submit(support::vote_share(number, world.in_seconds(30)));
        if (number == 2) already = id;
    }
    world.run_for(2min);
    REQUIRE(world.number("select count(*) from request where status = 'completed'") == 4);
}

}  // namespace

TEST_CASE("by default the log says what failed and why, and nothing of the others") {
    support::World world;
    live(world);
    CHECK(lines_of_shares(world, ports::LogLevel::info) == 0);
    const auto& logger = world.engine.logger;
    const std::string refused = "share_attempt_failed " + name_of(support::vote_share(3));
    CHECK(logger.count(refused + " attempt=1 attempts_max=5 reason=\"asked http://") == 1);
    CHECK(logger.count(refused + " attempt=2 attempts_max=5") == 1);
    // Once for all troubles in a row.
    CHECK(logger.count("share_waits " + name_of(support::vote_share(4)) + " reason=") == 1);
    CHECK(lines_of_shares(world, ports::LogLevel::warning) == 3);
    for (const char* hidden : {"secret", "u:k", "submit_at", "share_submitted"}) {
        CAPTURE(hidden);
        CHECK(logger.count(hidden) == 0);
    }
}

TEST_CASE("with expose_timing every share has its line") {
    support::World world;
    world.engine.options.shares.expose_timing = true;
    live(world);
    const auto& logger = world.engine.logger;
    for (const std::uint64_t number : {1U, 3U, 4U}) {
        CHECK(logger.count("share_submitted " + name_of(support::vote_share(number))) == 1);
    }
    CHECK(logger.count("share_already_revealed " + name_of(support::vote_share(2))) == 1);
    CHECK(logger.count("shares_started count=2 max_concurrent=2") >= 1);
    CHECK(lines_of_shares(world, ports::LogLevel::warning) == 3);
    CHECK(logger.count("secret") == 0);
}

TEST_CASE("the last attempt, an unreadable share and one that kills are said once each") {
    support::World world;
    world.gateway.on_prepare = [](const PrepareOrder&) {
        return engine::Rejected{{domain::Reason::internal_error, "code 5", {}}};
    };
    (void)world.submit(support::vote_share(1));
    world.run_for(2min);
    CHECK(world.engine.logger.count("share_attempt_failed") == 5);
    CHECK(world.engine.logger.count("attempt=5 attempts_max=5") == 1);
    CHECK(world.engine.logger.count("share_given_up") == 1);
    CHECK(world.engine.logger.count("share_failed") == 0);

    const auto id = world.submit(support::vote_share(2, world.in_seconds(5)));
    world.crash();
    world.tamper("update payload set body = x'00'");
    world.engine.start();
    world.run_for(10s);
    CHECK(world.engine.logger.count("share_failed job_id=" + to_string(id) +
                                    " reason=undecodable") == 1);
}

TEST_CASE("a reason with quotes stays one value") {
    support::World world;
    std::size_t prepares = 0;
    world.gateway.on_prepare = [&](const PrepareOrder&) -> PrepareOutcome {
        if (++prepares == 1) return engine::Unreachable{R"(no "prover" at http://host/hidden)"};
        return engine::Rejected{{domain::Reason::internal_error, R"(bad" alert=true x="\)", {}}};
    };
    (void)world.submit(support::vote_share(1));
    world.run_for(2min);
    const auto& logger = world.engine.logger;
    CHECK(logger.count(R"(reason="no \"prover\" at http://)") == 1);
    CHECK(logger.count(R"(reason="bad\" alert=true x=\"\\")") == 5);
    CHECK(logger.count("hidden") == 0);
}

TEST_CASE("no line holds anything of the witness data") {
    support::World world;
    world.engine.options.shares.expose_timing = true;
    domain::VoteShare share = support::vote_share(1);
    share.primary_blind.fill(0xb1);
    share.c1.fill(0xc1);
    share.c2.fill(0xc2);
    for (auto& comm : share.share_comms) comm.fill(0xcc);
    world.gateway.on_prepare = [](const PrepareOrder&) { return engine::Unreachable{"down"}; };
    world.engine.vote_end = world.clock.wall() + 60s;
    (void)world.submit(share);
    world.run_for(5min);
    for (const auto& line : world.engine.logger.lines()) {
        for (const char* secret : {"b1b1b1", "c1c1c1", "c2c2c2", "cccccc"}) {
            CHECK(line.text.find(secret) == std::string::npos);
        }
    }
}

TEST_CASE("a share is said to be started once, however often it is tried") {
    support::World world;
    world.engine.options.shares.expose_timing = true;
    world.engine.options.shares.confirm_reveals = true;
    std::size_t tries = 0;
    world.gateway.on_prepare = [&](const PrepareOrder&) -> PrepareOutcome {
        if (++tries <= 3) return engine::Unreachable{"down"};
        if (tries == 4) return engine::Rejected{{domain::Reason::internal_error, "no", {}}};
        return engine::Plan{};
    };
    // The chain loses it once.
    std::size_t looks = 0;
    world.gateway.on_confirm = [&](const engine::ConfirmOrder&) -> engine::NullifierAnswer {
        if (++looks <= 6) return engine::NotRevealed{};
        return engine::Revealed{};
    };
    const auto id = world.submit(support::vote_share(1));
    world.run_for(5min);
    CHECK(world.status(id) == Status::completed);
    CHECK(world.engine.logger.count("share_lost") == 1);
    CHECK(tries == 6);
    CHECK(world.engine.logger.count("shares_started count=1 ") == 1);
    CHECK(world.engine.logger.count("shares_started") == 1);

    // Nor after a crash in the middle of it.
    world.gateway.prepare_delay = 1h;
    (void)world.submit(support::vote_share(2));
    world.restart();
    world.run_for(1min);
    CHECK(world.engine.logger.count("shares_started") == 2);
}

TEST_CASE("what is counted as a failed attempt is what the budget counts") {
    struct Counting : engine::Observer {
        void stepped(const engine::StepFacts& facts) override {
            failed += facts.share_attempts_failed;
        }
        std::size_t failed = 0;
    };
    struct Row {
        const char* label;
        PrepareOutcome outcome;
        std::size_t failed;
    };
    const domain::Failure no{domain::Reason::internal_error, "no", {}};
    for (const Row& row : {Row{"refused", engine::Rejected{no}, 5},
                           Row{"nobody there", engine::Unreachable{"down"}, 0}}) {
        CAPTURE(row.label);
        support::World world;
        Counting counting;
        world.engine.observers.add(counting);
        world.gateway.on_prepare = [&](const PrepareOrder&) { return row.outcome; };
        (void)world.submit(support::vote_share(1));
        world.run_for(5min);
        world.engine.observers = {};
        world.restart();
        CHECK(counting.failed == row.failed);
    }
}

TEST_CASE("shares of a round that are more than a minute late are said once an hour, uncounted") {
    struct Row {
        const char* label;
        bool is_begun;
    };
    for (const Row& row : {Row{"tried in vain", true}, Row{"never begun", false}}) {
        CAPTURE(row.label);
        support::World world;
        world.engine.options.shares.max_concurrent_proofs = 1;
        world.engine.options.lease = 24h;
        world.gateway.on_prepare = [](const PrepareOrder&) { return engine::Unreachable{"down"}; };
        if (!row.is_begun) {
            // Of another round, and on time: it takes the only slot.
            world.gateway.prepare_delay = 23h;
            domain::VoteShare other = support::vote_share(9);
            other.round_id.fill(0xee);
            (void)world.submit(other);
            world.gateway.prepare_delay = 10ms;
        }
        for (const std::uint64_t number : {1, 2, 3}) {
            (void)world.submit(support::vote_share(number, world.in_seconds(10)));
        }
        const std::string line =
            "shares_late alert=true round_id=" + domain::to_hex(support::vote_share(1).round_id) +
            " more_than_seconds=60 ";
        const auto& logger = world.engine.logger;
        world.run_for(70s);
        CHECK(logger.count(line) == 0);
        world.run_for(30s);
        CHECK(logger.count(line) == 1);
        CHECK(logger.count("reason=\"down\" hint=") == (row.is_begun ? 1 : 0));
        world.run_for(30min);
        CHECK(logger.count(line) == 1);
        world.run_for(40min);
        CHECK(logger.count(line) == 2);
    }
}

TEST_CASE("shares that leave in time are not said to be late, nor those that come late") {
    support::World world;
    (void)world.submit(support::vote_share(1, world.in_seconds(40)));
    (void)world.submit(support::vote_share(2, world.in_seconds(-3'600)));
    world.run_for(1h);
    CHECK(world.number("select count(*) from request where status = 'completed'") == 2);
    CHECK(world.engine.logger.count("shares_late") == 0);
}
