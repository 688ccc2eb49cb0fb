#include <doctest/doctest.h>

#include <string>

#include "store/harness.hpp"

using domain::Kind;
using domain::Status;
using store::Lane;

namespace {

std::size_t purge(Harness& harness, Lane lane, std::int64_t before, std::size_t limit = 1'000) {
    std::size_t purged = 0;
    harness.commit([&] { purged = harness.store->purge(lane, rows::at(before), limit); });
    return purged;
}

// A request that ended at `now`.
store::Row ended(Harness& harness, Kind kind, std::int64_t number, Status status, std::int64_t now,
                 std::optional<std::int64_t> round = std::nullopt) {
    const store::Row row = harness.bring(kind, number, Status::receipt_received, round);
    harness.end(row, Status::receipt_received, status, rows::at(now));
    return row;
}

}  // namespace

TEST_CASE("a purge takes the ended rows of one lane, the oldest first, as many as it may") {
    Harness harness;
    for (std::int64_t number = 1; number <= 10; ++number) {
        ended(harness, Kind::public_decrypt, number, Status::completed, 1'000 - number);
    }
    ended(harness, Kind::user_decrypt, 11, Status::failure, 0);
    harness.bring(Kind::public_decrypt, 12, Status::receipt_received);

    CHECK(purge(harness, Lane::ended_public_decrypt, 990) == 0);
    CHECK(purge(harness, Lane::ended_public_decrypt, 991) == 1);
    CHECK_FALSE(harness.store->load(10));
    CHECK(purge(harness, Lane::ended_public_decrypt, 5'000, 4) == 4);
    CHECK_FALSE(harness.store->load(6));
    CHECK(harness.store->load(5));
    CHECK(purge(harness, Lane::ended_public_decrypt, 5'000, 0) == 0);
    CHECK(purge(harness, Lane::ended_public_decrypt, 5'000) == 5);
    CHECK(purge(harness, Lane::ended_public_decrypt, 5'000) == 0);
    CHECK(harness.store->load(11));
    CHECK(harness.store->load(12)->status == Status::receipt_received);
}

TEST_CASE("retention counts from the end, whatever the status") {
    struct Row {
        Kind kind;
        Status status;
        Lane lane;
    };
    const Row table[] = {
        {Kind::input_proof, Status::completed, Lane::ended_input_proof},
        {Kind::input_proof, Status::failure, Lane::ended_input_proof},
        {Kind::public_decrypt, Status::timed_out, Lane::ended_public_decrypt},
        {Kind::user_decrypt, Status::completed, Lane::ended_user_decrypt},
        {Kind::delegated_user_decrypt, Status::failure, Lane::ended_user_decrypt},
        {Kind::unified_user_decrypt, Status::timed_out, Lane::ended_user_decrypt},
        {Kind::share, Status::completed, Lane::ended_share},
        {Kind::share, Status::failure, Lane::ended_share},
        {Kind::share, Status::timed_out, Lane::ended_share},
    };
    for (const Row& row : table) {
        CAPTURE(to_string(row.kind));
        CAPTURE(to_string(row.status));
        Harness harness;
        ended(harness, row.kind, 1, row.status, 500);
        CHECK(purge(harness, row.lane, 500) == 0);
        CHECK(purge(harness, row.lane, 501) == 1);
    }
}

TEST_CASE("an ended share is kept until its round is over and closed") {
    struct Row {
        std::string label;
        std::int64_t vote_end;
        std::int64_t ended;
        std::int64_t kept_until;
    };
    const Row table[] = {
        {"ended while the round runs", 1'000, 100, 1'000},
        {"ended with the round", 1'000, 1'000, 1'000},
        {"ended after the round", 1'000, 1'500, 1'500},
    };
    for (const Row& row : table) {
        for (const Status status : {Status::completed, Status::failure, Status::timed_out}) {
            CAPTURE(row.label);
            CAPTURE(to_string(status));
            Harness harness;
            std::int64_t round = 0;
            harness.commit(
                [&] { round = harness.store->round(rows::bytes32(1), rows::at(row.vote_end)); });
            ended(harness, Kind::share, 1, status, row.ended, round);
            CHECK(purge(harness, Lane::ended_share, row.kept_until + 1) == 0);
            harness.commit([&] { harness.store->close_round(round); });
            CHECK(purge(harness, Lane::ended_share, row.kept_until) == 0);
            CHECK(purge(harness, Lane::ended_share, row.kept_until + 1) == 1);
        }
    }
}

TEST_CASE("a purged request leaves nothing behind") {
    Harness harness;
    const std::string empty = harness.contents();
    for (const Kind kind : {Kind::input_proof, Kind::public_decrypt, Kind::share}) {
        const auto number = 1 + static_cast<std::int64_t>(kind);
        harness.bring(kind, number, Status::processing);
        harness.commit([&] { harness.store->add_attempt(number, rows::attempt(1), rows::start); });
        const domain::Move sealed{
            Status::processing, Status::tx_in_flight, domain::Cause::sealed, true, true, true};
        const store::Row row = harness.store->load(number).value();
        harness.commit(
            [&] { REQUIRE(take(*harness.store, row, sealed, row.schedule, rows::start)); });
        harness.commit([&] {
            REQUIRE(
                harness.store->receive(row, std::nullopt, rows::in_lane(Lane::timer), rows::start));
        });
        harness.end(row, Status::receipt_received, Status::completed);
    }
    CHECK(harness.contents() != empty);
    for (const Lane lane :
         {Lane::ended_input_proof, Lane::ended_public_decrypt, Lane::ended_share}) {
        CHECK(purge(harness, lane, 1) == 1);
    }
    CHECK(harness.contents() == empty);
    CHECK_FALSE(harness.store->find_duplicate(rows::identity(1)));
}

TEST_CASE("a purge that is rolled back took nothing") {
    Harness harness;
    ended(harness, Kind::public_decrypt, 1, Status::completed, 0);
    const std::string before = harness.contents();
    {
        const store::Store::Transaction undone(*harness.store);
        CHECK(harness.store->purge(Lane::ended_public_decrypt, rows::at(1), 10) == 1);
    }
    CHECK(harness.contents() == before);
}
