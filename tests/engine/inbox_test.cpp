#include "engine/inbox.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>

using engine::Events;
using engine::Inbox;
using engine::Submission;
using namespace std::chrono_literals;

namespace {

domain::RequestId id(std::int64_t number) {
    return {number, 0};
}

Submission submission() {
    Submission made;
    made.payload = {1, 2, 3};
    return made;
}

}  // namespace

TEST_CASE("submissions are bounded, room comes back, and a refused one comes back") {
    Inbox inbox{2};
    CHECK_FALSE(inbox.submit(submission()));
    CHECK_FALSE(inbox.submit(submission()));
    auto third = inbox.submit(submission());
    REQUIRE(third);
    CHECK(third->payload == domain::Bytes{1, 2, 3});

    Events events;
    inbox.drain(events);
    CHECK(events.submissions.size() == 2);
    CHECK(inbox.is_empty());
    CHECK_FALSE(inbox.submit(std::move(*third)));
}

TEST_CASE("events of a gateway are kept in order however many there are, full or closed") {
    Inbox inbox{1};
    REQUIRE_FALSE(inbox.submit(submission()));
    inbox.close();
    for (std::int64_t i = 0; i < 10'000; ++i) {
        inbox.checked({{id(i), engine::Ready{}}, {id(i), engine::NotReady{}}});
        inbox.prepared({{id(i), engine::Plan{}}});
        inbox.sent({{id(i), engine::Unreachable{"x"}}});
        inbox.answered({{}, static_cast<std::uint64_t>(i)});
    }
    Events events;
    inbox.drain(events);
    REQUIRE(events.checked.size() == 20'000);
    REQUIRE(events.prepared.size() == 10'000);
    REQUIRE(events.sent.size() == 10'000);
    REQUIRE(events.answered.size() == 10'000);
    for (std::size_t i = 0; i < 10'000; ++i) {
        REQUIRE(events.checked[2 * i].id == id(static_cast<std::int64_t>(i)));
        REQUIRE(events.prepared[i].id == id(static_cast<std::int64_t>(i)));
        REQUIRE(events.sent[i].id == id(static_cast<std::int64_t>(i)));
        REQUIRE(events.answered[i].cursor == i);
    }
}

TEST_CASE("a drain adds to what is there already") {
    Inbox inbox{10};
    Events events;
    for (std::int64_t i = 0; i < 3; ++i) {
        inbox.sent({{id(i), engine::Unreachable{"x"}}});
        inbox.drain(events);
    }
    REQUIRE(events.sent.size() == 3);
    for (std::int64_t i = 0; i < 3; ++i) {
        CHECK(events.sent[static_cast<std::size_t>(i)].id == id(i));
    }
}

TEST_CASE("answers that are not taken stay behind, and whoever reads them hears of it") {
    Inbox inbox{10};
    Events events;
    const auto answers = [&](std::uint64_t cursor) {
        inbox.answered({std::vector<engine::Answer>(5'000), cursor});
    };
    answers(1);
    inbox.drain(events);
    answers(2);
    CHECK_FALSE(inbox.has_too_many_answers());
    answers(3);
    CHECK(inbox.has_too_many_answers());
    inbox.drain(events);
    CHECK(events.answered.size() == 1);
    CHECK(inbox.has_too_many_answers());
    CHECK_FALSE(inbox.is_empty());
    events.answered.clear();
    inbox.drain(events);
    REQUIRE(events.answered.size() == 2);
    CHECK(events.answered[0].cursor == 2);
    CHECK(events.answered[1].cursor == 3);
    CHECK_FALSE(inbox.has_too_many_answers());
    CHECK(inbox.is_empty());
}

TEST_CASE("a closed inbox takes no more submissions and stop is said once") {
    Inbox inbox{10};
    inbox.close();
    CHECK(inbox.submit(submission()));
    inbox.stop();
    Events events;
    CHECK_FALSE(inbox.is_empty());
    inbox.drain(events);
    CHECK(events.stop);
    Events later;
    inbox.drain(later);
    CHECK_FALSE(later.stop);
    CHECK(later.empty());
}

TEST_CASE("waiting ends at once when something is there") {
    Inbox inbox{10};
    inbox.sent({{id(1), engine::Unreachable{"x"}}});
    inbox.wait(1h);
    inbox.stop();
    inbox.wait_for_stop(1h);
    Inbox idle{10};
    idle.wait(0ns);
    idle.wait_for_stop(0ns);
    CHECK(idle.is_empty());
}

TEST_CASE("many threads leave events and one takes them: nothing lost, nothing twice") {
    constexpr int producers = 4;
    constexpr std::int64_t each = 5'000;
    Inbox inbox{64};
    std::atomic<std::uint64_t> refused{0};
    std::vector<std::jthread> threads;
    for (int producer = 0; producer < producers; ++producer) {
        threads.emplace_back([&, producer] {
            for (std::int64_t i = 0; i < each; ++i) {
                inbox.sent({{id(producer * each + i), engine::Unreachable{"x"}}});
                if (i % 8 == 0 && inbox.submit(submission())) ++refused;
            }
        });
    }
    std::vector<bool> seen(producers * each, false);
    std::vector<std::int64_t> last(producers, -1);
    std::uint64_t submissions = 0;
    std::size_t count = 0;
    bool in_order = true;
    while (count < producers * each || submissions + refused < producers * each / 8) {
        inbox.wait(5ms);
        Events events;
        inbox.drain(events);
        submissions += events.submissions.size();
        CHECK(events.submissions.size() <= 64);
        for (const engine::Sent& sent : events.sent) {
            const auto number = sent.id.sequence;
            const auto producer = static_cast<std::size_t>(number / each);
            in_order = in_order && number > last[producer];
            last[producer] = number;
            CHECK_FALSE(seen[static_cast<std::size_t>(number)]);
            seen[static_cast<std::size_t>(number)] = true;
            ++count;
        }
    }
    CHECK(in_order);
    CHECK(count == producers * each);
    CHECK(submissions + refused == producers * each / 8);
}

TEST_CASE("stop from another thread ends any wait") {
    for (const bool only_stop : {false, true}) {
        CAPTURE(only_stop);
        Inbox inbox{10};
        std::jthread stopper{[&] { inbox.stop(); }};
        only_stop ? inbox.wait_for_stop(60s) : inbox.wait(60s);
        Events events;
        inbox.drain(events);
        CHECK(events.stop);
    }
}
