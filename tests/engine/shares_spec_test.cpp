// The cases of share-helper 8 that concern store and processor together; the rest of S stands in
// tests/whole/shares_store_spec_test.cpp.

#include <chrono>

#include "support/recording_alerts.hpp"
#include "support/world.hpp"

using domain::Status;
using engine::PrepareOrder;
using engine::PrepareOutcome;
using support::accepted;
using namespace std::chrono_literals;

namespace {

// Whether a step still takes the share: TakeReady of the reference.
std::size_t take_ready(support::World& world) {
    const std::size_t before = world.gateway.prepares.size();
    world.engine.turn();
    return world.gateway.prepares.size() - before;
}

store::RoundCounts only_queue(support::World& world) {
    const auto answer = world.engine.process().service.rounds();
    REQUIRE(is<std::vector<store::RoundCounts>>(answer));
    const auto& rounds = std::get<std::vector<store::RoundCounts>>(answer);
    REQUIRE(rounds.size() == 1);
    return rounds.front();
}

std::optional<domain::Timestamp> earliest(support::World& world) {
    return world.engine.process().store.earliest_wake(store::Lane::schedule);
}

void refuse(support::World& world) {
    world.gateway.on_prepare = [](const PrepareOrder&) {
        return engine::Rejected{{domain::Reason::internal_error, "code 5", {}}};
    };
}

}  // namespace

TEST_CASE("S1 a share without a time is taken at once, and only once") {
    support::World world;
    const auto id = world.submit(support::vote_share(1, 0));
    CHECK(world.gateway.prepares.size() == 1);
    CHECK(world.status(id) == Status::processing);
    CHECK(take_ready(world) == 0);
}

TEST_CASE("S2 a revealed share counts as submitted and holds no witness data") {
    support::World world;
    (void)world.submit(support::vote_share(1));
    world.run_for(1s);
    CHECK(only_queue(world).submitted == 1);
    CHECK(only_queue(world).pending == 0);
    CHECK(world.number("select count(*) from payload") == 0);
    CHECK(world.number("select count(*) from attempt") == 0);
}

TEST_CASE("S3 two shares of one round are two, both pending") {
    support::World world;
    (void)world.submit(support::vote_share(1, world.in_seconds(60)));
    (void)world.submit(support::vote_share(2, world.in_seconds(60)));
    CHECK(only_queue(world).total == 2);
    CHECK(only_queue(world).pending == 2);
}

TEST_CASE("S4 the same payload twice is queued, then a duplicate, and one share") {
    support::World world;
    const domain::VoteShare share = support::vote_share(1, world.in_seconds(60));
    CHECK_FALSE(accepted(world.engine.try_submit(share)).duplicate);
    CHECK(accepted(world.engine.try_submit(share)).duplicate);
    CHECK(only_queue(world).total == 1);
}

TEST_CASE("S5 the same key with another shares_hash is a conflict, and one share") {
    support::World world;
    domain::VoteShare share = support::vote_share(1, world.in_seconds(60));
    (void)world.submit(share);
    share.shares_hash[31] ^= 1;
    CHECK(is<engine::Conflict>(world.engine.try_submit(share)));
    CHECK(only_queue(world).total == 1);
}

TEST_CASE("S6 one share index under two proposals is two shares that go their own ways") {
    support::World world;
    domain::VoteShare share = support::vote_share(1);
    const auto first = world.submit(share);
    share.proposal_id += 1;
    const auto second = world.submit(share);
    CHECK(first != second);
    REQUIRE(world.gateway.prepares.size() == 2);
    CHECK(world.gateway.prepares[0].id == first);
    CHECK(world.gateway.prepares[1].id == second);
    world.run_for(1s);
    CHECK(world.status(first) == Status::completed);
    CHECK(world.status(second) == Status::completed);
    CHECK(only_queue(world).submitted == 2);
}

TEST_CASE("S8 of an over and a live round the purge takes the over one alone") {
    support::World world;
    world.engine.vote_end = world.clock.wall() - 1h;
    CHECK(is<engine::Accepted>(world.engine.try_submit(support::vote_share(1))));
    world.engine.vote_end = world.clock.wall() + 1h;
    domain::VoteShare live = support::vote_share(2, world.in_seconds(1'800));
    live.round_id[0] = 7;
    const auto id = world.submit(live);
    world.run_for(1min);
    CHECK(world.number("select count(*) from request") == 1);
    CHECK(world.status(id) == Status::queued);
    CHECK(only_queue(world).round_id == live.round_id);
    CHECK(world.engine.logger.count("round_purged") == 1);
    CHECK(world.engine.logger.count("rows_deleted=1") == 1);
}

TEST_CASE("S12 the earliest time: none when empty, not in the future at once, none when taken") {
    support::World world;
    world.engine.start();
    CHECK_FALSE(earliest(world));
    world.engine.options.shares.max_concurrent_proofs = 1;
    world.restart();
    world.gateway.prepare_delay = 1h;
    (void)world.submit(support::vote_share(1));
    CHECK_FALSE(earliest(world));  // taken in the step it came in
    (void)world.submit(support::vote_share(2));
    REQUIRE(earliest(world));
    CHECK(*earliest(world) <= world.clock.wall());
    // A new share is the signal itself.
    world.engine.post(support::vote_share(3), [](engine::AcceptOutcome) {});
    CHECK_FALSE(world.engine.process().inbox.is_empty());
}

TEST_CASE("S13 of two times the earlier one is waited for") {
    support::World world;
    (void)world.submit(support::vote_share(1, world.in_seconds(180)));
    (void)world.submit(support::vote_share(2, world.in_seconds(60)));
    const std::uint64_t at = world.in_seconds(60);
    CHECK(earliest(world) ==
          domain::Timestamp{std::chrono::seconds{static_cast<std::int64_t>(at)}});
    world.run_for(31s);  // nothing but the next share is nearer than the maintenance
    CHECK(world.engine.turn().length <= 29s);
    world.run_for(29s);
    CHECK(world.gateway.prepares.size() == 1);
}

TEST_CASE("S14 after a failed attempt the share waits for a time in the future, and the loop too") {
    support::World world;
    refuse(world);
    const auto id = world.submit(support::vote_share(1));
    world.run_for(10ms);
    CHECK(world.row(id).schedule.attempts == 1);
    REQUIRE(earliest(world));
    CHECK(*earliest(world) > world.clock.wall());
    CHECK(world.engine.turn().length <= 2s);
    world.run_for(2s);
    CHECK(world.gateway.prepares.size() == 2);
}

TEST_CASE("P5 a concurrency of 0 acts as 1, and the share is still submitted") {
    support::World world;
    world.engine.options.shares.max_concurrent_proofs = 0;
    const auto first = world.submit(support::vote_share(1));
    const auto second = world.submit(support::vote_share(2));
    CHECK(world.status(first) == Status::processing);
    CHECK(world.status(second) == Status::queued);
    world.run_for(1s);
    CHECK(world.status(first) == Status::completed);
    CHECK(world.status(second) == Status::completed);
}

TEST_CASE("further: an identical resend after Submitted, and after Failed, is a duplicate") {
    for (const bool failed : {false, true}) {
        CAPTURE(failed);
        support::World world;
        if (failed) refuse(world);
        const domain::VoteShare share = support::vote_share(1);
        const auto id = world.submit(share);
        world.run_for(1min);
        REQUIRE(world.status(id) == (failed ? Status::failure : Status::completed));
        const auto again = accepted(world.engine.try_submit(share));
        CHECK(again.duplicate);
        CHECK(again.id == id);
        CHECK(world.status(id) == (failed ? Status::failure : Status::completed));
        CHECK(only_queue(world).total == 1);
        domain::VoteShare other = share;
        other.primary_blind[0] ^= 1;
        CHECK(is<engine::Conflict>(world.engine.try_submit(other)));
    }
}

TEST_CASE("further: a resend with a different submit_at is a duplicate and keeps the first time") {
    support::World world;
    const auto id = world.submit(support::vote_share(1, world.in_seconds(60)));
    const auto again = accepted(world.engine.try_submit(support::vote_share(1, 0)));
    CHECK(again.duplicate);
    CHECK(again.id == id);
    world.run_for(59s);
    CHECK(world.status(id) == Status::queued);
    world.run_for(2s);
    CHECK(world.status(id) == Status::completed);
}

// The reference forgets the retry time; here it is stored, as the attempts are.
TEST_CASE("further: attempts survive restart (and so does the retry time)") {
    support::World world;
    refuse(world);
    const auto id = world.submit(support::vote_share(1));
    world.run_for(7s);  // at 0, 2 and 6 seconds
    REQUIRE(world.gateway.prepares.size() == 3);
    world.restart();
    CHECK(world.row(id).schedule.attempts == 3);
    world.run_for(6s);
    CHECK(world.gateway.prepares.size() == 3);
    world.run_for(2s);
    CHECK(world.gateway.prepares.size() == 4);
    CHECK(world.row(id).schedule.attempts == 4);
    world.run_for(1min);
    CHECK(world.status(id) == Status::failure);
    CHECK(world.gateway.prepares.size() == 5);
}

TEST_CASE("further: an exception in the prover costs one attempt and the siblings finish") {
    support::World world;
    domain::RequestId bad{};
    bool threw = false;
    world.gateway.prepare_delay = 100ms;
    world.gateway.on_prepare = [&](const PrepareOrder& order) -> PrepareOutcome {
        if (order.id == bad && !std::exchange(threw, true)) {
            return engine::Rejected{{domain::Reason::internal_error, "exception: bad_alloc", {}}};
        }
        return engine::Plan{};
    };
    bad = world.submit(support::vote_share(1));
    const auto sibling = world.submit(support::vote_share(2));
    world.run_for(200ms);
    CHECK(world.status(sibling) == Status::completed);
    CHECK(world.status(bad) == Status::queued);
    CHECK(world.row(bad).schedule.attempts == 1);
    world.run_for(3s);
    CHECK(world.status(bad) == Status::completed);
}
