#include "api/long_polls.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <future>
#include <thread>
#include <vector>

#include "support/virtual_time.hpp"

using api::LongPolls;
using namespace std::chrono_literals;

namespace {

engine::StepFacts ended(std::int64_t sequence, domain::Status to = domain::Status::completed) {
    engine::StepFacts facts;
    store::Change change;
    change.sequence = sequence;
    change.from = domain::Status::receipt_received;
    change.to = to;
    facts.changes.push_back(change);
    return facts;
}

struct Waiting {
    support::VirtualClock clock;
    LongPolls polls{clock, 3};
    std::vector<int> done;

    std::optional<LongPolls::Ticket> wait(std::int64_t sequence, domain::Milliseconds time,
                                          int name) {
        return polls.wait(sequence, time, [this, name] { done.push_back(name); });
    }
};

}  // namespace

TEST_CASE("a waiting poll is done when its job ends, not before and only once") {
    Waiting waiting;
    REQUIRE(waiting.wait(7, 20s, 1));
    REQUIRE(waiting.wait(7, 20s, 2));
    REQUIRE(waiting.wait(8, 20s, 3));
    waiting.polls.stepped(ended(7, domain::Status::receipt_received));
    waiting.polls.stepped(ended(9));
    waiting.polls.turn();
    CHECK(waiting.done.empty());

    waiting.polls.stepped(ended(7));
    CHECK(waiting.done.empty());  // never on the processor's thread
    waiting.polls.turn();
    CHECK(waiting.done.size() == 2);
    CHECK(waiting.polls.waiting() == 1);
    waiting.polls.stepped(ended(7));
    waiting.clock.advance(1h);
    waiting.polls.turn();
    CHECK(waiting.done.back() == 3);
    CHECK(waiting.done.size() == 3);
}

TEST_CASE("a waiting poll is done when its time is over, the shortest first") {
    Waiting waiting;
    REQUIRE(waiting.wait(1, 20s, 1));
    REQUIRE(waiting.wait(2, 5s, 2));
    CHECK(waiting.polls.turn() == domain::Nanoseconds{5s});
    waiting.clock.advance(5s - 1ms);
    CHECK(waiting.polls.turn() == domain::Nanoseconds{1ms});
    CHECK(waiting.done.empty());
    waiting.clock.advance(1ms);
    CHECK(waiting.polls.turn() == domain::Nanoseconds{15s});
    CHECK(waiting.done == std::vector{2});
    waiting.clock.advance(15s);
    CHECK_FALSE(waiting.polls.turn());
    CHECK(waiting.done == std::vector{2, 1});
}

TEST_CASE("places are bounded; one that is free again is given again") {
    Waiting waiting;
    REQUIRE(waiting.wait(1, 1s, 1));
    REQUIRE(waiting.wait(2, 2s, 2));
    const auto third = waiting.wait(3, 3s, 3);
    REQUIRE(third);
    CHECK_FALSE(waiting.wait(4, 3s, 4));
    CHECK(waiting.polls.turned_away() == 1);
    CHECK(waiting.polls.withdraw(*third));
    CHECK_FALSE(waiting.polls.withdraw(*third));
    CHECK(waiting.wait(4, 4s, 4));
    waiting.clock.advance(10s);
    waiting.polls.turn();
    CHECK(waiting.done == std::vector{1, 2, 4});
}

TEST_CASE("a stop answers everybody at once and lets nobody wait any more") {
    Waiting waiting;
    REQUIRE(waiting.wait(1, 1h, 1));
    REQUIRE(waiting.wait(2, 1h, 2));
    waiting.polls.stop();
    waiting.polls.run();
    CHECK(waiting.done.size() == 2);
    CHECK_FALSE(waiting.wait(3, 1s, 3));
}

TEST_CASE("the thread of the waiting polls wakes for an end and for an earlier deadline") {
    Waiting waiting;
    std::promise<void> answered;
    std::thread thread([&] { waiting.polls.run(); });
    REQUIRE(waiting.wait(1, 1h, 1));
    REQUIRE(waiting.polls.wait(2, 30min, [&] { answered.set_value(); }));
    waiting.polls.stepped(ended(2));
    CHECK(answered.get_future().wait_for(10s) == std::future_status::ready);
    std::promise<void> over;
    REQUIRE(waiting.polls.wait(3, 0ms, [&] { over.set_value(); }));
    CHECK(over.get_future().wait_for(10s) == std::future_status::ready);
    waiting.polls.stop();
    thread.join();
    CHECK(waiting.done == std::vector{1});
}

TEST_CASE("a waiting poll that is hurried is done at once, and its place is free") {
    Waiting waiting;
    const auto ticket = waiting.wait(1, 1h, 1);
    REQUIRE(ticket);
    waiting.polls.finish_early(*ticket);
    waiting.polls.finish_early(*ticket);
    CHECK(waiting.polls.waiting() == 0);
    CHECK(waiting.done.empty());
    waiting.polls.turn();
    CHECK(waiting.done == std::vector{1});
}
