#include "engine/waiting_line.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <vector>

#include "support/virtual_time.hpp"

using engine::WaitingLine;

namespace {

using Id = WaitingLine::Id;

std::vector<Id> drain(WaitingLine line) {
    std::vector<Id> ids;
    while (const auto id = line.pop_front()) ids.push_back(*id);
    return ids;
}

// Whether every member's position is the place at which it really leaves.
bool positions_are_true(const WaitingLine& line) {
    const std::vector<Id> order = drain(line);
    for (std::size_t place = 0; place < order.size(); ++place) {
        if (line.position(order[place]) != place) return false;
    }
    return order.size() == line.size();
}

}  // namespace

TEST_CASE("a plain line is first come, first served, whoever asks") {
    WaitingLine line;
    for (Id id = 1; id <= 6; ++id) CHECK(line.push_back(id, id % 2));
    CHECK_FALSE(line.push_back(3, 9));
    CHECK(drain(line) == std::vector<Id>{1, 2, 3, 4, 5, 6});
    CHECK(line.position_of_next(7) == 6);
    CHECK(positions_are_true(line));
}

TEST_CASE("field report 76: with fairness on, one that asks once is not behind a thousand") {
    WaitingLine line(true);
    for (Id id = 1; id <= 1'000; ++id) line.push_back(id, 1);
    CHECK(line.position_of_next(2) == 1);
    line.push_back(2'000, 2);
    CHECK(line.position(2'000) == 1);
    CHECK(line.position(1) == 0);
    CHECK(line.position(2) == 2);
    CHECK(line.position_of_next(1) == 1'001);

    WaitingLine plain;
    for (Id id = 1; id <= 1'000; ++id) plain.push_back(id, 1);
    CHECK(plain.position_of_next(2) == 1'000);
}

TEST_CASE("clients take turns, and each client's requests keep their order") {
    WaitingLine line(true);
    for (const auto& [id, client] :
         {std::pair<Id, Id>{1, 1}, {2, 1}, {3, 1}, {4, 2}, {5, 3}, {6, 3}}) {
        line.push_back(id, client);
    }
    CHECK(drain(line) == std::vector<Id>{1, 4, 5, 2, 6, 3});
    CHECK(positions_are_true(line));

    // Who has had his turn goes to the end of the line of clients.
    CHECK(line.pop_front() == 1);
    CHECK(drain(line) == std::vector<Id>{4, 5, 2, 6, 3});
    CHECK(positions_are_true(line));
    CHECK(line.remove(4));
    CHECK_FALSE(line.remove(4));
    CHECK(drain(line) == std::vector<Id>{5, 2, 6, 3});
}

TEST_CASE("who is called back stands before everybody, in either kind of line") {
    for (const bool fair : {false, true}) {
        CAPTURE(fair);
        WaitingLine line(fair);
        line.push_back(1, 1);
        line.push_back(2, 2);
        CHECK(line.push_front(3));
        CHECK_FALSE(line.push_front(1));
        CHECK_FALSE(line.push_back(3, 1));
        CHECK(drain(line) == std::vector<Id>{3, 1, 2});
        CHECK(positions_are_true(line));
        CHECK(line.remove(3));
        line.clear();
        CHECK(line.empty());
        CHECK_FALSE(line.pop_front());
        CHECK_FALSE(line.position(1));
    }
}

TEST_CASE("positions stay true through thousands of random changes") {
    for (const bool fair : {false, true}) {
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            CAPTURE(fair);
            CAPTURE(seed);
            support::SeededRandom random(seed);
            WaitingLine line(fair);
            Id next = 1;
            for (int change = 0; change < 200; ++change) {
                const auto client = static_cast<Id>(random.below(5));
                switch (random.below(6)) {
                    case 0:
                        line.push_front(next++);
                        break;
                    case 1:
                        static_cast<void>(line.pop_front());
                        break;
                    case 2:
                        line.remove(
                            1 + static_cast<Id>(random.below(static_cast<std::uint64_t>(next))));
                        break;
                    default: {
                        const std::size_t expected = line.position_of_next(client);
                        line.push_back(next, client);
                        REQUIRE(line.position(next) == expected);
                        ++next;
                    }
                }
                REQUIRE(positions_are_true(line));
            }
        }
    }
}
