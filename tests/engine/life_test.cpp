#include <algorithm>
#include <chrono>

#include "support/world.hpp"

using domain::Kind;
using domain::Milliseconds;
using domain::Status;
using namespace std::chrono_literals;

TEST_CASE("a public decrypt passes both gates and completes with the chain's answer") {
    support::World world;
    const auto id = world.submit(support::public_decrypt(1));
    CHECK(world.status(id) == Status::queued);
    world.run_for(5ms);
    CHECK(world.status(id) == Status::queued);
    world.run_for(10ms);
    CHECK(world.status(id) == Status::processing);
    world.run_for(10ms);
    CHECK(world.status(id) == Status::tx_in_flight);
    world.run_for(10ms);
    CHECK(world.status(id) == Status::receipt_received);

    world.gateway.answer(id, support::public_decrypted());
    world.run_for(1ms);
    CHECK(world.status(id) == Status::completed);
    CHECK(world.result(id) == domain::Result{support::public_decrypted()});
    CHECK(world.gateway.checks.size() == 1);
    CHECK(world.gateway.prepares.size() == 1);
    REQUIRE(world.gateway.sends.size() == 1);
    CHECK_FALSE(world.gateway.sends[0].order.look_up_first);
}

TEST_CASE("a user decrypt completes with the first 9 of 13 shares, in order of their index") {
    for (const Kind kind :
         {Kind::user_decrypt, Kind::delegated_user_decrypt, Kind::unified_user_decrypt}) {
        CAPTURE(to_string(kind));
        support::World world;
        const auto id = world.submit(support::request_of(kind, 1));
        world.run_for(100ms);
        REQUIRE(world.status(id) == Status::receipt_received);

        const std::vector<std::uint32_t> arrival{13, 2, 12, 3, 11, 4, 10, 5, 1, 6, 7, 8, 9};
        for (std::size_t i = 0; i < 8; ++i)
            world.gateway.answer(id, support::kms_share(arrival[i]));
        world.run_for(1ms);
        CHECK(world.status(id) == Status::receipt_received);
        for (std::size_t i = 8; i < 13; ++i)
            world.gateway.answer(id, support::kms_share(arrival[i]));
        world.run_for(1ms);
        REQUIRE(world.status(id) == Status::completed);

        domain::UserDecrypted wanted;
        for (const std::uint32_t index : {1, 2, 3, 4, 5, 10, 11, 12, 13}) {
            wanted.shares.push_back(support::kms_share(index));
        }
        CHECK(world.result(id) == domain::Result{wanted});
        CHECK(world.number("select count(*) from answer") == 0);
    }
}

TEST_CASE("an input proof starts in processing and ends accepted or rejected") {
    support::World world;
    const auto good = world.submit(support::input_proof(1));
    const auto bad = world.submit(support::input_proof(2));
    CHECK(world.status(good) == Status::processing);
    world.run_for(100ms);
    CHECK(world.status(good) == Status::receipt_received);
    CHECK(world.gateway.checks.empty());

    world.gateway.answer(good, support::proof_accepted());
    world.gateway.answer(bad, engine::ProofRejected{});
    world.run_for(1ms);
    CHECK(world.status(good) == Status::completed);
    CHECK(world.result(good) == domain::Result{support::proof_accepted()});
    CHECK(world.status(bad) == Status::failure);
    CHECK(world.failure(bad) ==
          domain::Failure{domain::Reason::proof_rejected, "Proof Rejected", {}});
}

TEST_CASE("a share waits for its second, is revealed and forgets its witness data") {
    support::World world;
    const auto id = world.submit(support::vote_share(1, world.in_seconds(60)));
    world.run_for(59s + 999ms);
    CHECK(world.status(id) == Status::queued);
    CHECK(world.gateway.prepares.empty());
    CHECK(world.number("select count(*) from payload") == 1);
    world.run_for(1ms);
    CHECK(world.status(id) == Status::processing);
    world.run_for(10ms);
    CHECK(world.status(id) == Status::tx_in_flight);
    world.run_for(10ms);
    CHECK(world.status(id) == Status::completed);
    CHECK(world.result(id) == domain::Result{domain::ShareRevealed{"AB", false}});
    CHECK(world.number("select count(*) from payload") == 0);
    CHECK(world.number("select count(*) from attempt") == 0);
}

TEST_CASE("nothing is asked of the chain when nothing happens, and the loop sleeps") {
    support::World world;
    world.engine.start();
    world.engine.turn();
    const auto wait = world.engine.turn();
    CHECK(wait.events_end_it);
    CHECK(wait.length == world.engine.options.maintenance_interval);
    world.run_for(1h);
    CHECK(world.gateway.sends.empty());
    CHECK(world.engine.process().processor.stale_events() == 0);
}
