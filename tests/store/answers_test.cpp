#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "store/harness.hpp"

using domain::Kind;
using domain::Status;

namespace {

std::vector<std::uint32_t> slots(Harness& harness, std::uint64_t reference) {
    std::vector<std::uint32_t> found;
    for (const store::HeldAnswer& answer : harness.store->held_answers(rows::bytes32(reference))) {
        found.push_back(answer.slot);
    }
    return found;
}

using Slots = std::vector<std::uint32_t>;

std::size_t held(Harness& harness, std::uint64_t references) {
    std::size_t count = 0;
    for (std::uint64_t reference = 0; reference < references; ++reference) {
        count += slots(harness, reference).size();
    }
    return count;
}

}  // namespace

TEST_CASE("the first answer of a slot wins, and answers come back in order of arrival") {
    Harness harness;
    const domain::Bytes32 reference = rows::bytes32(1);
    harness.commit([&] {
        CHECK(harness.store->hold_answer(reference, {3, {1, 2}}, rows::at(1)));
        CHECK(harness.store->hold_answer(reference, {1, {3}}, rows::at(2)));
        CHECK_FALSE(harness.store->hold_answer(reference, {3, {9, 9}}, rows::at(3)));
        CHECK(harness.store->hold_answer(rows::bytes32(2), {3, {4}}, rows::at(3)));
    });
    const auto answers = harness.store->held_answers(reference);
    REQUIRE(answers.size() == 2);
    CHECK(answers[0].slot == 3);
    CHECK(answers[0].body == domain::Bytes{1, 2});
    CHECK(answers[1].slot == 1);
    CHECK(answers[1].body == domain::Bytes{3});

    harness.commit([&] { harness.store->drop_answers(reference); });
    CHECK(slots(harness, 1).empty());
    CHECK(slots(harness, 2) == Slots{3});
}

TEST_CASE("trimming forgets what is too old, then the oldest beyond the bound") {
    struct Row {
        std::string label;
        std::uint64_t bound;
        std::int64_t before;
        std::size_t limit;
        std::size_t trimmed;
        std::uint64_t oldest_left;
    };
    // Ten answers, one per reference 0 to 9, arrived at 0, 10, … 90.
    const Row table[] = {
        {"nothing old, bound not reached", 10, 0, 100, 0, 0},
        {"the moment itself stays", 10, 30, 100, 3, 3},
        {"all old", 10, 1'000, 100, 10, 10},
        {"bound alone", 4, 0, 100, 6, 6},
        {"bound of nothing", 0, 0, 100, 10, 10},
        {"old ones count toward the bound", 4, 30, 100, 6, 6},
        {"old by pieces", 10, 50, 2, 2, 2},
        {"bound by pieces", 4, 0, 2, 2, 2},
    };
    for (const Row& row : table) {
        CAPTURE(row.label);
        store::Options options;
        options.early_answers_max = row.bound;
        Harness harness(options);
        harness.commit([&] {
            for (std::int64_t i = 0; i < 10; ++i) {
                store::HeldAnswer answer{0, {1}};
                // The oldest is of the newest block; of half of them no block is known.
                if (i % 2 == 0)
                    answer.block = domain::Block{static_cast<std::uint64_t>(20 - i), {}};
                CHECK(harness.store->hold_answer(rows::bytes32(static_cast<std::uint64_t>(i)),
                                                 answer, rows::at(10 * i)));
            }
        });
        store::Store::Trimmed trimmed;
        harness.commit(
            [&] { trimmed = harness.store->trim_answers(rows::at(row.before), row.limit); });
        CHECK(trimmed.answers == row.trimmed);
        CHECK(trimmed.newest_block ==
              (row.trimmed > 0 ? std::optional<std::uint64_t>{20} : std::nullopt));
        CHECK(held(harness, 10) == 10 - row.trimmed);
        for (std::uint64_t i = 0; i < 10; ++i) {
            CHECK(slots(harness, i).empty() == (i < row.oldest_left));
        }
    }
}

TEST_CASE("each listener has a cursor of its own, moved in the commit of the moves it caused") {
    Harness harness;
    harness.commit([&] { harness.store->set_cursor("chain", 41); });
    harness.commit([&] {
        harness.store->set_cursor("chain", 42);
        harness.store->set_cursor("another", 7);
    });
    {
        const store::Store::Transaction undone(*harness.store);
        harness.store->set_cursor("chain", 43);
        CHECK(harness.store->cursor("chain") == 43);
    }
    harness.reopen();
    CHECK(harness.store->cursor("chain") == 42);
    CHECK(harness.store->cursor("another") == 7);
    CHECK_FALSE(harness.store->cursor("unknown"));
}

TEST_CASE("every sealed transaction of a request is kept, in order") {
    Harness harness;
    harness.bring(Kind::public_decrypt, 1, Status::processing);
    harness.bring(Kind::public_decrypt, 2, Status::processing);
    const store::Attempt largest{INT64_MAX, rows::bytes32(77),
                                 domain::Bytes(50'000, std::uint8_t{9})};
    harness.commit([&] {
        harness.store->add_attempt(1, rows::attempt(5), rows::at(1));
        harness.store->add_attempt(2, rows::attempt(6), rows::at(1));
    });
    harness.commit([&] { harness.store->add_attempt(1, largest, rows::at(0)); });
    harness.reopen();
    const auto attempts = harness.store->attempts(1);
    REQUIRE(attempts.size() == 2);
    CHECK(attempts[0].nonce == 5);
    CHECK(attempts[0].hash == rows::attempt(5).hash);
    CHECK(attempts[0].sealed == rows::attempt(5).sealed);
    CHECK(attempts[1].nonce == largest.nonce);
    CHECK(attempts[1].hash == largest.hash);
    CHECK(attempts[1].sealed == largest.sealed);
    CHECK(harness.store->attempts(2).size() == 1);
}

TEST_CASE("attempts of a request outlive its end, those of a share do not") {
    struct Row {
        Kind kind;
        Status end;
        std::size_t kept;
    };
    const Row table[] = {
        {Kind::public_decrypt, Status::completed, 1},
        {Kind::user_decrypt, Status::failure, 1},
        {Kind::input_proof, Status::timed_out, 1},
        {Kind::share, Status::completed, 0},
        {Kind::share, Status::failure, 0},
        {Kind::share, Status::timed_out, 0},
    };
    for (const Row& row : table) {
        CAPTURE(to_string(row.kind));
        CAPTURE(to_string(row.end));
        Harness harness;
        const store::Row request = harness.bring(row.kind, 1, Status::receipt_received);
        harness.commit([&] { harness.store->add_attempt(1, rows::attempt(5), rows::at(1)); });
        harness.end(request, Status::receipt_received, row.end);
        CHECK(harness.store->attempts(1).size() == row.kept);
        CHECK(harness.store->payload(1).has_value() == (row.kept > 0));
    }
}
