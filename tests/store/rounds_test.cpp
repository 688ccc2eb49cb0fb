#include <doctest/doctest.h>

#include <vector>

#include "store/harness.hpp"

using domain::Kind;
using domain::Status;

namespace {

std::int64_t add_round(Harness& harness, std::uint64_t number, std::int64_t end) {
    std::int64_t id = 0;
    harness.commit([&] { id = harness.store->round(rows::bytes32(number), rows::at(end)); });
    return id;
}

std::vector<std::int64_t> over(Harness& harness, std::int64_t now, std::size_t limit = 100) {
    std::vector<std::int64_t> ids;
    for (const store::RoundRow& round : harness.store->rounds_over(rows::at(now), limit)) {
        ids.push_back(round.id);
    }
    return ids;
}

using Ids = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("a round is known by its id, and the first end time wins") {
    Harness harness;
    const std::int64_t round = add_round(harness, 1, 100);
    CHECK(add_round(harness, 1, 900) == round);
    CHECK(add_round(harness, 2, 900) != round);
    harness.reopen();
    CHECK(add_round(harness, 1, 5) == round);
    const auto rounds = harness.store->rounds_over(rows::at(101), 10);
    REQUIRE(rounds.size() == 1);
    CHECK(rounds[0].round_id == rows::bytes32(1));
    CHECK(rounds[0].vote_end == rows::at(100));
}

TEST_CASE("rounds over are those that ended earlier and were not closed") {
    Harness harness;
    const std::int64_t first = add_round(harness, 1, 300);
    const std::int64_t second = add_round(harness, 2, 100);
    const std::int64_t third = add_round(harness, 3, 200);
    CHECK(over(harness, 100).empty());
    CHECK(over(harness, 101) == Ids{second});
    CHECK(over(harness, 1'000) == Ids{first, second, third});
    CHECK(over(harness, 1'000, 2) == Ids{first, second});
    harness.commit([&] { harness.store->close_round(second); });
    CHECK(over(harness, 1'000) == Ids{first, third});
}

TEST_CASE("a round counts its shares and how each of them ended, once") {
    Harness harness;
    const std::int64_t round = add_round(harness, 1, 100);
    const std::int64_t other = add_round(harness, 2, 100);
    std::int64_t number = 0;
    for (const Status end :
         {Status::completed, Status::completed, Status::completed, Status::timed_out,
          Status::failure, Status::failure, Status::queued, Status::receipt_received}) {
        harness.bring(Kind::share, ++number, end, round);
    }
    harness.bring(Kind::share, ++number, Status::completed, other);
    harness.bring(Kind::share, ++number, Status::completed);

    // A step that comes too late counts nothing.
    harness.commit([&] {
        const store::Row ended = rows::row(Kind::share, 1, {}, round);
        CHECK_FALSE(harness.store->complete(ended, rows::bytes32(1), rows::at(1)));
        CHECK_FALSE(harness.store->fail(
            ended, {Status::processing, Status::failure, domain::Cause::transaction},
            {domain::Reason::attempts_used_up, "", {}}, rows::at(1)));
    });
    const auto rounds = harness.store->rounds_over(rows::at(101), 10);
    REQUIRE(rounds.size() == 2);
    CHECK(rounds[0].total == 8);
    CHECK(rounds[0].submitted == 3);
    CHECK(rounds[0].timed_out == 1);
    CHECK(rounds[0].failed == 2);
    CHECK(rounds[1].total == 1);
    CHECK(rounds[1].submitted == 1);
}

TEST_CASE("counts of a transaction that was rolled back do not stay") {
    Harness harness;
    const std::int64_t round = add_round(harness, 1, 100);
    {
        const store::Store::Transaction undone(*harness.store);
        harness.store->insert(
            {rows::row(Kind::share, 1, {}, round), rows::identity(1), domain::ByteView{}});
        harness.store->add_to_round(round, 1);
    }
    CHECK(harness.store->rounds_over(rows::at(101), 10).at(0).total == 0);
}
