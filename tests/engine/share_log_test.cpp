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
