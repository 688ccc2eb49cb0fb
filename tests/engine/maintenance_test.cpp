#include <chrono>

#include "support/world.hpp"

using domain::Kind;
using domain::Status;
using engine::PrepareOrder;
using engine::PrepareOutcome;
using namespace std::chrono_literals;

namespace {

std::int64_t rows(support::World& world) {
    return world.number("select count(*) from request");
}

void hand_in(support::World& world, Kind kind, std::uint64_t first, std::uint64_t many) {
    for (std::uint64_t number = first; number < first + many; ++number) {
        world.engine.post(support::request_of(kind, number), [](engine::AcceptOutcome) {});
    }
}

void fail_everything(support::World& world) {
    world.gateway.on_prepare = [](const PrepareOrder&) {
        return engine::Rejected{{domain::Reason::reverted, "reverted", {}}};
    };
}

}  // namespace

TEST_CASE("ended requests go when their retention is over, active ones never") {
    struct Row {
        Kind kind;
        domain::Milliseconds retention;
    };
    for (const Row& row : {Row{Kind::input_proof, 1h}, Row{Kind::public_decrypt, 3h},
                           Row{Kind::user_decrypt, 2h}, Row{Kind::unified_user_decrypt, 2h}}) {
        CAPTURE(to_string(row.kind));
        support::World world;
        auto& options = world.engine.options;
        options.retention = {true, 1h, 3h, 2h, 0ms};
        options.sending_timeout = 100h;
        const auto completed = world.submit(support::request_of(row.kind, 1));
        world.run_for(1s);
        support::answer_well(world.gateway, completed, row.kind);
        world.run_for(1s);
        REQUIRE(world.status(completed) == Status::completed);
        const auto ended = world.clock.monotonic();
        world.gateway.on_prepare = [](const PrepareOrder&) { return engine::Unreachable{"down"}; };
        const auto active = world.submit(support::request_of(row.kind, 2));

        world.run_for(ended + row.retention - world.clock.monotonic() - 2s);
        CHECK(is<engine::Completed>(world.engine.process().service.find(completed)));
        world.run_for(2s + world.engine.options.maintenance_interval);
        CHECK(is<engine::NotFound>(world.engine.process().service.find(completed)));
        world.run_for(5h);
        CHECK(world.status(active) == Status::processing);
        CHECK(rows(world) == 1);
        CHECK(world.number("select count(*) from payload") == 1);
        CHECK(world.number("select count(*) from result") == 0);
        CHECK(world.number("select count(*) from attempt") == 0);
        const auto again = world.engine.try_submit(support::request_of(row.kind, 1));
        CHECK_FALSE(std::get<engine::Accepted>(again).duplicate);
    }
}

TEST_CASE("without expiry ended requests stay") {
    support::World world;
    fail_everything(world);
    const auto id = world.submit(support::input_proof(1));
    world.run_for(3 * 24h);
    CHECK(world.status(id) == Status::failure);
}

TEST_CASE("a purge goes in small batches, and new work passes between them (field report 44)") {
    support::World world;
    auto& options = world.engine.options;
    options.retention = {true, 1h, 1h, 1h, 0ms};
    options.sending.input_proof = {100'000, 0, 11'000, 1'000};
    fail_everything(world);
    hand_in(world, Kind::input_proof, 1, 2'000);
    world.run_for(10s);
    REQUIRE(world.number("select count(*) from request where status = 'failure'") == 2'000);

    // Just before the retention is over, without maintenance in between.
    world.run_for(59min);
    REQUIRE(rows(world) == 2'000);
    world.clock.advance(5min);
    int steps = 0;
    std::int64_t left = rows(world);
    std::uint64_t number = 10'000;
    while (left > 0 && steps < 200) {
        const auto accepted = world.engine.try_submit(
            support::vote_share(++number, world.in_seconds(36'000)));  // one step each
        REQUIRE(is<engine::Accepted>(accepted));
        const std::int64_t now =
            world.number("select count(*) from request where kind = 'input_proof'");
        CHECK(left - now <= 100);
        left = now;
        ++steps;
    }
    CHECK(left == 0);
    CHECK(steps >= 20);
    CHECK(steps <= 25);
    CHECK(world.number("select count(*) from payload") == steps);
}

TEST_CASE("a purge goes on by itself without waiting for the next maintenance") {
    support::World world;
    world.engine.options.retention = {true, 1h, 1h, 1h, 0ms};
    world.engine.options.sending.input_proof = {100'000, 0, 11'000, 1'000};
    fail_everything(world);
    hand_in(world, Kind::input_proof, 1, 1'000);
    world.run_for(10s);
    world.run_for(1h + 1min);
    CHECK(rows(world) == 0);
}

TEST_CASE("the end of a round with many waiting shares goes in small batches and alerts once") {
    support::World world;
    world.engine.vote_end = world.clock.wall() + 60s;
    world.engine.options.shares.max_concurrent_proofs = 1;
    world.gateway.prepare_delay = 30s;
    hand_in(world, Kind::share, 1, 1'000);
    world.run_for(61s);
    world.engine.turn();
    world.run_for(2min);
    CHECK(rows(world) == 0);
    CHECK(world.engine.logger.count("round_closed_with_unsubmitted_shares") == 1);
    CHECK(world.number("select submitted + failed + timed_out from round") == 1'000);
    CHECK(world.number("select timed_out from round") >= 995);
    CHECK(world.number("select count(*) from payload") == 0);
}

TEST_CASE("every slot busy beyond the end of a round does not delay its alert") {
    support::World world;
    world.engine.options.shares.max_concurrent_proofs = 1;
    world.gateway.prepare_delay = 1h;
    (void)world.submit(support::vote_share(1));  // of a long round
    auto other = support::vote_share(2);
    other.round_id[0] = 9;
    world.engine.vote_end = world.clock.wall() + 60s;
    const auto waiting = world.submit(other);
    world.run_for(61s);
    CHECK(world.status(waiting) == Status::timed_out);
    CHECK(world.engine.logger.count("round_closed_with_unsubmitted_shares") == 1);
}

TEST_CASE("a round that is over is closed although a long line of another stands before it") {
    support::World world;
    world.engine.options.shares.max_concurrent_proofs = 1;
    world.gateway.prepare_delay = 1h;
    hand_in(world, Kind::share, 1, 500);  // of a long round, all due
    world.engine.turn();
    auto other = support::vote_share(1);
    other.round_id[0] = 9;
    world.engine.vote_end = world.clock.wall() + 60s;
    const auto waiting = world.submit(other);
    world.run_for(61s);
    CHECK(world.status(waiting) == Status::timed_out);
    CHECK(world.engine.logger.count("round_closed_with_unsubmitted_shares") == 1);
}

TEST_CASE("a clock that is not believed purges nothing") {
    support::World world;
    world.engine.options.retention = {true, 1h, 1h, 1h, 0ms};
    fail_everything(world);
    const auto id = world.submit(support::input_proof(1));
    world.run_for(1min);
    world.clock.step_wall(24h);
    world.run_for(2min);
    CHECK(world.status(id) == Status::failure);
    world.clock.step_wall(-24h);
    world.run_for(50min);
    CHECK(world.status(id) == Status::failure);
    world.run_for(10min);
    CHECK(is<engine::NotFound>(world.engine.process().service.find(id)));
}

TEST_CASE("a request that stands in a line for hours is looked at and stays where it is") {
    support::World world;
    world.engine.options.sends_max = 0;
    std::vector<domain::RequestId> ids;
    for (std::uint64_t number = 1; number <= 5; ++number) {
        ids.push_back(world.submit(support::input_proof(number)));
        world.run_for(7min);
    }
    world.run_for(5h);
    const auto& gates = world.engine.process().gates;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        CHECK(gates.position_of(world.row(ids[i]), 0).ahead == i);
    }
    CHECK(world.number("select count(*) from request where lane = 1") == 5);
}
