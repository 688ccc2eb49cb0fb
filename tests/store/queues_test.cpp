#include <doctest/doctest.h>

#include <vector>

#include "store/harness.hpp"

using domain::Kind;
using domain::Status;
using store::Lane;

namespace {

std::vector<std::int64_t> numbers(const std::vector<store::Row>& found) {
    std::vector<std::int64_t> ids;
    for (const store::Row& row : found) ids.push_back(row.id.sequence);
    return ids;
}

using Numbers = std::vector<std::int64_t>;

// Rows of two lanes whose order of wake is not their order of arrival.
struct Queues : Harness {
    Queues() {
        struct Row {
            std::int64_t number;
            Lane lane;
            std::int64_t wake;
        };
        const Row table[] = {
            {1, Lane::schedule, 300}, {2, Lane::schedule, 100}, {3, Lane::timer, 50},
            {4, Lane::schedule, 200}, {5, Lane::schedule, 100}, {6, Lane::gate, 10},
        };
        for (const Row& row : table) {
            const Kind kind = row.lane == Lane::gate ? Kind::public_decrypt : Kind::share;
            add(rows::row(kind, row.number, rows::in_lane(row.lane, rows::at(row.wake))));
        }
    }
};

}  // namespace

TEST_CASE("due rows come by lane, earliest first, equal ones in order of arrival") {
    Queues queues;
    struct Row {
        std::string label;
        Lane lane;
        std::int64_t now;
        std::size_t limit;
        Numbers expected;
    };
    const Row table[] = {
        {"before the first", Lane::schedule, 99, 10, {}},
        {"at the moment", Lane::schedule, 100, 10, {2, 5}},
        {"one later", Lane::schedule, 200, 10, {2, 5, 4}},
        {"all", Lane::schedule, 1'000, 10, {2, 5, 4, 1}},
        {"as many as asked for", Lane::schedule, 1'000, 3, {2, 5, 4}},
        {"none asked for", Lane::schedule, 1'000, 0, {}},
        {"another lane", Lane::timer, 1'000, 10, {3}},
        {"an empty lane", Lane::ended_share, 1'000, 10, {}},
    };
    for (const Row& row : table) {
        CAPTURE(row.label);
        CHECK(numbers(queues.store->due(row.lane, rows::at(row.now), row.limit)) == row.expected);
    }
}

TEST_CASE("the rows of a lane stand in order of acceptance, whatever their wake") {
    Queues queues;
    CHECK(numbers(queues.store->standing_in(Lane::schedule)) == Numbers{1, 2, 4, 5});
    CHECK(numbers(queues.store->standing_in(Lane::gate)) == Numbers{6});
    CHECK(queues.store->standing_in(Lane::ended_share).empty());
}

TEST_CASE("the earliest wake of a lane follows its rows") {
    Queues queues;
    CHECK(queues.store->earliest_wake(Lane::schedule) == rows::at(100));
    CHECK(queues.store->earliest_wake(Lane::gate) == rows::at(10));
    CHECK_FALSE(queues.store->earliest_wake(Lane::ended_share));

    queues.commit([&] {
        for (const std::int64_t number : {2, 5}) {
            CHECK(queues.store->reschedule(rows::row(Kind::share, number), Status::queued,
                                           rows::in_lane(Lane::timer, rows::at(7))));
        }
    });
    CHECK(queues.store->earliest_wake(Lane::schedule) == rows::at(200));
    CHECK(queues.store->earliest_wake(Lane::timer) == rows::at(7));
}

TEST_CASE("a row is read back as it was written") {
    Harness harness;
    harness.commit([&] { CHECK(harness.store->round(rows::bytes32(9), rows::at(9)) == 1); });
    struct Row {
        std::string label;
        store::Row row;
    };
    const Row table[] = {
        {"no deadline", rows::row(Kind::input_proof, 1)},
        {"deadline and counts",
         rows::row(Kind::public_decrypt, 2, {Lane::timer, rows::at(5), rows::at(6), 7, 8, 9})},
        {"round", rows::row(Kind::share, 3, rows::in_lane(Lane::schedule), 1)},
        {"largest id",
         {{(std::int64_t{1} << 60) - 1, (std::int64_t{1} << 62) - 1},
          Kind::delegated_user_decrypt,
          Status::queued,
          rows::at(1),
          rows::in_lane(Lane::gate, domain::from_unix_ms(0)),
          std::nullopt}},
    };
    const domain::Bytes payload{0, 1, 2, 0, 255};
    for (const Row& row : table) {
        CAPTURE(row.label);
        harness.add(row.row, payload);
        CHECK(harness.store->load(row.row.id.sequence) == row.row);
        CHECK(harness.store->payload(row.row.id.sequence) == payload);
        CHECK(harness.store->last_sequence() == row.row.id.sequence);
    }
    const std::string before = harness.contents();
    harness.reopen();
    CHECK(harness.contents() == before);
    CHECK(harness.store->last_sequence() == (std::int64_t{1} << 60) - 1);
}

TEST_CASE("an empty store knows nothing") {
    Harness harness;
    CHECK(harness.store->last_sequence() == 0);
    CHECK_FALSE(harness.store->load(1));
    CHECK_FALSE(harness.store->payload(1));
    CHECK_FALSE(harness.store->find_by_reference(rows::bytes32(1)));
    CHECK_FALSE(harness.store->find_duplicate(rows::identity(1)));
    CHECK(harness.store->attempts(1).empty());
    CHECK(harness.store->held_answers(rows::bytes32(1)).empty());
    CHECK_FALSE(harness.store->cursor("chain"));
    CHECK(harness.store->rounds_over(rows::at(1'000'000), 10).empty());
}

TEST_CASE("an empty payload is a payload") {
    Harness harness;
    harness.add(rows::row(Kind::public_decrypt, 1));
    CHECK(harness.store->payload(1) == domain::Bytes{});
}

TEST_CASE("a request is found by the reference of its receipt") {
    Harness harness;
    const store::Row row = harness.bring(Kind::user_decrypt, 7, Status::receipt_received);
    CHECK(harness.store->find_by_reference(rows::bytes32(7))->id == row.id);
    CHECK_FALSE(harness.store->find_by_reference(rows::bytes32(8)));
    harness.end(row, Status::receipt_received, Status::completed);
    CHECK(harness.store->find_by_reference(rows::bytes32(7))->status == Status::completed);
}

TEST_CASE("a second row of an id is an accident with its cause, and the first one stays") {
    Harness harness;
    harness.add(rows::row(Kind::public_decrypt, 1));
    const std::string before = harness.contents();
    CHECK_THROWS_WITH_AS(harness.add(rows::row(Kind::user_decrypt, 1)),
                         doctest::Contains("UNIQUE constraint failed: request.id"),
                         store::StorageError);
    CHECK(harness.contents() == before);
    harness.add(rows::row(Kind::user_decrypt, 2));
    CHECK(harness.store->last_sequence() == 2);
}
