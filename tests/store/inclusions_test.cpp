// What the store remembers of where transactions were included.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "store/harness.hpp"

using domain::Block;
using domain::Kind;
using domain::Status;
using store::Inclusion;

namespace {

Block block(std::uint64_t number, std::uint64_t fork = 0) {
    return {number, rows::bytes32(1'000 * fork + number)};
}

}  // namespace

TEST_CASE("an inclusion is found by request, block and id, and replaced by the next") {
    Harness harness;
    const auto row = harness.bring(Kind::public_decrypt, 1, Status::receipt_received);
    const std::int64_t id = row.id.sequence;
    const Inclusion first{id, rows::bytes32(5), block(7), rows::bytes32(6), false};
    harness.commit([&] { harness.store->include(first); });
    harness.reopen();
    CHECK(harness.store->inclusion(id) == first);
    CHECK(harness.store->inclusions() == std::vector{first});
    CHECK(harness.store->included_in(block(7)) == std::vector{first});
    CHECK(harness.store->included_in(block(7, 1)).empty());
    CHECK(harness.store->find_included(rows::bytes32(6)) == id);

    const Inclusion excluded{id, rows::bytes32(5), {}, {}, false};
    harness.commit([&] { harness.store->exclude(id); });
    CHECK(harness.store->inclusion(id) == excluded);
    CHECK(harness.store->included_in(block(7)).empty());
    CHECK_FALSE(harness.store->find_included(rows::bytes32(6)));

    const Inclusion second{id, rows::bytes32(8), block(9, 1), rows::bytes32(7), false};
    harness.commit([&] { harness.store->include(second); });
    CHECK(harness.store->inclusion(id) == second);
    harness.commit([&] { harness.store->settle_inclusion(id); });
    CHECK_FALSE(harness.store->inclusion(id));
}

TEST_CASE("a buried block settles ended requests at once, and waiting ones when they end") {
    struct Case {
        const char* label;
        Status status;
        Status end;
    };
    for (const Case& one :
         {Case{"completed", Status::completed, Status::completed},
          Case{"failed", Status::failure, Status::failure},
          Case{"waits, then completes", Status::receipt_received, Status::completed},
          Case{"waits, then times out", Status::receipt_received, Status::timed_out}}) {
        CAPTURE(one.label);
        Harness harness;
        const auto row = harness.bring(Kind::user_decrypt, 1, one.status);
        const std::int64_t id = row.id.sequence;
        harness.commit([&] {
            harness.store->include({id, rows::bytes32(5), block(7), rows::bytes32(6), false});
            CHECK(harness.store->bury(block(7, 1), 100));
        });
        CHECK_FALSE(harness.store->inclusion(id).value().buried);
        harness.commit([&] { CHECK(harness.store->bury(block(7), 100)); });
        const bool waits = one.status == Status::receipt_received;
        CHECK(harness.store->inclusion(id).has_value() == waits);
        if (!waits) continue;
        CHECK(harness.store->inclusion(id).value().buried);
        harness.end(row, Status::receipt_received, one.end);
        CHECK_FALSE(harness.store->inclusion(id));
    }
}

TEST_CASE("what may still be replaced is not purged, and its nonces and bytes stay") {
    Harness harness;
    const auto row = harness.bring(Kind::public_decrypt, 1, Status::completed);
    const std::int64_t id = row.id.sequence;
    const store::Attempt attempt = rows::attempt(3);
    harness.commit([&] {
        harness.store->add_attempt(id, attempt, rows::start);
        harness.store->include({id, attempt.hash, block(7), rows::bytes32(6), false}, {21'000, 9});
    });
    const auto charged = [&] { return harness.store->attempts(id).at(0); };
    CHECK(charged().block == 7);
    CHECK(charged().charge == store::Charge{21'000, 9});
    const auto purge = [&] {
        std::size_t purged = 0;
        harness.commit([&] {
            purged = harness.store->purge(store::Lane::ended_public_decrypt,
                                          rows::at(1'000'000'000), 10);
        });
        return purged;
    };
    CHECK(purge() == 0);
    harness.reopen();
    CHECK(harness.store->attempts(id).size() == 1);
    CHECK(harness.store->attempts_in_work().empty());
    REQUIRE(harness.store->nonces_included().size() == 1);
    CHECK(harness.store->nonces_included()[0].nonce == attempt.nonce);
    CHECK(harness.store->nonces_included()[0].block == block(7));

    // On its way again it is held, and no block has it.
    harness.commit([&] { harness.store->exclude(id); });
    CHECK_FALSE(charged().block);
    CHECK(charged().charge == store::Charge{});
    CHECK(purge() == 0);
    CHECK(harness.store->attempts_in_work().size() == 1);
    CHECK(harness.store->nonces_included().empty());

    harness.commit([&] { harness.store->settle_inclusion(id); });
    CHECK(harness.store->attempts_in_work().empty());
    CHECK(purge() == 1);
    CHECK(harness.store->attempts(id).empty());
}

TEST_CASE("a request that is sent back has no id, deadline or elapsed time") {
    Harness harness;
    const auto row = harness.bring(Kind::public_decrypt, 1, Status::receipt_received);
    store::Schedule schedule = rows::in_lane(store::Lane::timer);
    schedule.attempts = 2;
    harness.commit([&] { CHECK(harness.store->send_back(row, schedule, rows::at(5))); });
    const auto after = harness.store->load(row.id.sequence).value();
    CHECK(after.status == Status::tx_in_flight);
    CHECK(after.since == rows::at(5));
    CHECK(after.schedule == schedule);
    CHECK_FALSE(harness.store->reference(row.id.sequence));
    harness.commit([&] { CHECK_FALSE(harness.store->send_back(row, schedule, rows::at(6))); });
}

TEST_CASE("an answer of another block takes the place of the first, and goes with its block") {
    Harness harness;
    const domain::Bytes32 reference = rows::bytes32(1);
    const auto hold = [&](store::HeldAnswer answer) {
        bool is_new = false;
        harness.commit(
            [&] { is_new = harness.store->hold_answer(reference, answer, rows::at(1)); });
        return is_new;
    };
    CHECK(hold({1, {1}, block(7)}));
    CHECK_FALSE(hold({1, {2}, block(7)}));
    CHECK_FALSE(hold({1, {3}, {}}));
    CHECK(hold({1, {4}, block(7, 1)}));
    CHECK(hold({2, {5}, block(8)}));
    CHECK(hold({3, {6}, {}}));
    auto held = harness.store->held_answers(reference);
    REQUIRE(held.size() == 3);
    CHECK(held[0].body == domain::Bytes{4});
    CHECK(held[0].block == block(7, 1));
    CHECK_FALSE(held[2].block);

    harness.commit([&] {
        CHECK(harness.store->drop_answers({block(7), block(8), block(9)}, 100));
    });
    held = harness.store->held_answers(reference);
    REQUIRE(held.size() == 2);
    CHECK(held[0].slot == 1);
    CHECK(held[1].slot == 3);
    harness.commit([&] { CHECK(harness.store->drop_answers(std::vector<Block>{}, 100)); });
    CHECK(harness.store->held_answers(reference).size() == 2);
}
