#include "engine/fair_queue.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <vector>

#include "support/virtual_time.hpp"

using engine::FairQueue;

namespace {

using Id = FairQueue::Id;

std::vector<Id> drain(FairQueue queue) {
    std::vector<Id> ids;
    while (const auto id = queue.pop_front()) ids.push_back(*id);
    return ids;
}

// Whether every member's position is the place at which it really leaves.
bool positions_are_true(const FairQueue& queue) {
    const std::vector<Id> order = drain(queue);
    for (std::size_t place = 0; place < order.size(); ++place) {
        if (queue.position(order[place]) != place) return false;
    }
    return order.size() == queue.size();
}

}  // namespace

TEST_CASE("a plain line is first come, first served, whoever asks") {
    FairQueue queue;
    for (Id id = 1; id <= 6; ++id) CHECK(queue.push(id, id % 2));
    CHECK_FALSE(queue.push(3, 9));
    CHECK(drain(queue) == std::vector<Id>{1, 2, 3, 4, 5, 6});
    CHECK(queue.position_of_next(7) == 6);
    CHECK(positions_are_true(queue));
}

TEST_CASE("field report 76: with fairness on, one that asks once is not behind a thousand") {
    FairQueue queue(true);
    for (Id id = 1; id <= 1'000; ++id) queue.push(id, 1);
    CHECK(queue.position_of_next(2) == 1);
    queue.push(2'000, 2);
    CHECK(queue.position(2'000) == 1);
    CHECK(queue.position(1) == 0);
    CHECK(queue.position(2) == 2);
    CHECK(queue.position_of_next(1) == 1'001);

    FairQueue plain;
    for (Id id = 1; id <= 1'000; ++id) plain.push(id, 1);
    CHECK(plain.position_of_next(2) == 1'000);
}

TEST_CASE("clients take turns, and each client's requests keep their order") {
    FairQueue queue(true);
    for (const auto& [id, client] :
         {std::pair<Id, Id>{1, 1}, {2, 1}, {3, 1}, {4, 2}, {5, 3}, {6, 3}}) {
        queue.push(id, client);
    }
    CHECK(drain(queue) == std::vector<Id>{1, 4, 5, 2, 6, 3});
    CHECK(positions_are_true(queue));

    // Who has had his turn goes to the end of the line of clients.
    CHECK(queue.pop_front() == 1);
    CHECK(drain(queue) == std::vector<Id>{4, 5, 2, 6, 3});
    CHECK(positions_are_true(queue));
    CHECK(queue.remove(4));
    CHECK_FALSE(queue.remove(4));
    CHECK(drain(queue) == std::vector<Id>{5, 2, 6, 3});
}

TEST_CASE(
    "who was here before stands before the rest of its own queue, in the order it came back") {
    for (const bool fair : {false, true}) {
        CAPTURE(fair);
        FairQueue queue(fair);
        queue.push(1, 1);
        queue.push(2, 2);
        CHECK(queue.push_again(5, 2));
        CHECK(queue.push_again(4, 2));
        CHECK_FALSE(queue.push_again(1, 1));
        CHECK_FALSE(queue.push(5, 1));
        CHECK(drain(queue) == (fair ? std::vector<Id>{1, 5, 4, 2} : std::vector<Id>{5, 4, 1, 2}));
        CHECK(positions_are_true(queue));
        CHECK(queue.remove(5));
        CHECK(drain(queue) == (fair ? std::vector<Id>{1, 4, 2} : std::vector<Id>{4, 1, 2}));
        queue.clear();
        CHECK(queue.empty());
        CHECK_FALSE(queue.pop_front());
        CHECK_FALSE(queue.position(1));
    }
}

TEST_CASE("positions stay true through thousands of random changes") {
    for (const bool fair : {false, true}) {
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            CAPTURE(fair);
            CAPTURE(seed);
            support::SeededRandom random(seed);
            FairQueue queue(fair);
            Id next = 1;
            for (int change = 0; change < 200; ++change) {
                const auto client = static_cast<Id>(random.below(5));
                switch (random.below(6)) {
                    case 0:
                        queue.push_again(next++, client);
                        break;
                    case 1:
                        static_cast<void>(queue.pop_front());
                        break;
                    case 2:
                        queue.remove(
                            1 + static_cast<Id>(random.below(static_cast<std::uint64_t>(next))));
                        break;
                    default: {
                        const std::size_t expected = queue.position_of_next(client);
                        queue.push(next, client);
                        REQUIRE(queue.position(next) == expected);
                        ++next;
                    }
                }
                REQUIRE(positions_are_true(queue));
            }
        }
    }
}
