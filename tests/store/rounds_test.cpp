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
    CHECK(harness.store->find_round(round) == rounds[0]);
    CHECK_FALSE(harness.store->find_round(99));
}

TEST_CASE("rounds over are those that ended by then and were not closed, in order of their end") {
    Harness harness;
    const std::int64_t first = add_round(harness, 1, 300);
    const std::int64_t second = add_round(harness, 2, 100);
    const std::int64_t third = add_round(harness, 3, 200);
    CHECK(over(harness, 99).empty());
    CHECK(over(harness, 100) == Ids{second});
    CHECK(over(harness, 1'000) == Ids{second, third, first});
    CHECK(over(harness, 1'000, 2) == Ids{second, third});
    harness.commit([&] { harness.store->close_round(second); });
    CHECK(harness.store->is_closed(second));
    CHECK_FALSE(harness.store->is_closed(first));
    CHECK_FALSE(harness.store->is_closed(99));
    CHECK(over(harness, 1'000) == Ids{third, first});
}

TEST_CASE("a round with shares in work is not over yet, unless others of it still wait") {
    Harness harness;
    const std::int64_t round = add_round(harness, 1, 100);
    harness.bring(Kind::share, 1, Status::processing, round);
    CHECK(over(harness, 100).empty());

    const store::Row waiting = harness.add(
        rows::row(Kind::share, 2, rows::in_lane(store::Lane::schedule, rows::at(500)), round));
    CHECK(over(harness, 100) == Ids{round});
    CHECK(harness.store->waiting_in_round(round, 10) == std::vector{waiting});
    harness.end(waiting, Status::queued, Status::timed_out);
    CHECK(harness.store->waiting_in_round(round, 10).empty());
    CHECK(over(harness, 100).empty());
    harness.end(rows::row(Kind::share, 1, {}, round), Status::processing, Status::failure);
    CHECK(over(harness, 100) == Ids{round});
}

TEST_CASE("the next end is that of the first round that is neither over nor closed") {
    Harness harness;
    CHECK_FALSE(harness.store->next_round_end(rows::at(0)));
    const std::int64_t first = add_round(harness, 1, 300);
    (void)add_round(harness, 2, 100);
    CHECK(harness.store->next_round_end(rows::at(99)) == rows::at(100));
    CHECK(harness.store->next_round_end(rows::at(100)) == rows::at(300));
    harness.commit([&] { harness.store->close_round(first); });
    CHECK_FALSE(harness.store->next_round_end(rows::at(100)));
}

TEST_CASE("the waiting shares of a round are found among those of others, as many as asked for") {
    Harness harness;
    const std::int64_t round = add_round(harness, 1, 100);
    const std::int64_t other = add_round(harness, 2, 100);
    for (std::int64_t number = 1; number <= 10; ++number) {
        harness.add(rows::row(Kind::share, number, rows::in_lane(store::Lane::schedule),
                              number % 2 == 0 ? round : other));
    }
    CHECK(harness.store->waiting_in_round(round, 100).size() == 5);
    CHECK(harness.store->waiting_in_round(round, 3).size() == 3);
    for (const store::Row& row : harness.store->waiting_in_round(round, 100)) {
        CHECK(row.round == round);
    }
    CHECK(harness.store->closed_with_waiting().empty());
    harness.commit([&] { harness.store->close_round(round); });
    CHECK(harness.store->closed_with_waiting() == Ids{round});
}

TEST_CASE("an alert stays as it was raised until it is taken, over restarts") {
    Harness harness;
    const std::int64_t first = add_round(harness, 1, 100);
    const std::int64_t second = add_round(harness, 2, 200);
    const std::int64_t silent = add_round(harness, 3, 200);
    store::RoundRow row{first, rows::bytes32(1), rows::at(100), 16, 9, 4, 3, 5};
    store::RoundRow other{second, rows::bytes32(2), rows::at(200), 1, 0, 0, 1};
    harness.commit([&] {
        harness.store->add_alert(other, rows::at(301));
        harness.store->add_alert(row, rows::at(300));
        harness.store->add_alert({silent, {}, {}, 1, 0, 1, 0}, rows::at(300));
        harness.store->take_alert(silent);
    });
    CHECK(harness.store->open_alerts() == std::vector{row, other});
    // A share that comes late changes the round, not the alert.
    harness.commit([&] {
        harness.store->add_to_round(first, 1);
        harness.store->take_alert(second);
        harness.store->take_alert(99);
    });
    harness.reopen();
    CHECK(harness.store->open_alerts() == std::vector{row});
    harness.commit([&] { harness.store->take_alert(first); });
    CHECK(harness.store->open_alerts().empty());
}

TEST_CASE("an alert is unlogged until it is marked, whether or not it is taken, over restarts") {
    Harness harness;
    const std::int64_t first = add_round(harness, 1, 100);
    const std::int64_t second = add_round(harness, 2, 200);
    const store::RoundRow row{first, rows::bytes32(1), rows::at(100), 16, 9, 4, 3};
    const store::RoundRow other{second, rows::bytes32(2), rows::at(200), 1, 0, 0, 1};
    harness.commit([&] {
        harness.store->add_alert(other, rows::at(301));
        harness.store->add_alert(row, rows::at(300));
        harness.store->take_alert(second);
    });
    CHECK(harness.store->unlogged_alerts() == std::vector{row, other});
    harness.commit([&] { harness.store->mark_alert_logged(first); });
    harness.reopen();
    CHECK(harness.store->unlogged_alerts() == std::vector{other});
    CHECK(harness.store->open_alerts() == std::vector{row});
    harness.commit([&] { harness.store->mark_alert_logged(second); });
    CHECK(harness.store->unlogged_alerts().empty());
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
    const auto counts = harness.store->find_round(round).value();
    CHECK(counts.total == 8);
    CHECK(counts.submitted == 3);
    CHECK(counts.timed_out == 1);
    CHECK(counts.failed == 2);
    const auto counts_of_other = harness.store->find_round(other).value();
    CHECK(counts_of_other.total == 1);
    CHECK(counts_of_other.submitted == 1);
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
