#include "engine/filtered_clock.hpp"

#include <doctest/doctest.h>

#include <chrono>

#include "support/virtual_time.hpp"

using domain::Milliseconds;
using domain::Timestamp;
using engine::FilteredClock;
using engine::Moment;
using namespace std::chrono_literals;

namespace {

constexpr Milliseconds leap{60s};
constexpr Milliseconds hold{5min};

struct Watch {
    support::VirtualClock clock;
    FilteredClock filtered{clock, leap, hold};
    Timestamp start = clock.wall();

    // Looks once a second, as the processor would at least every 30.
    void advance(std::chrono::seconds time) {
        for (auto i = 0s; i < time; i += 1s) {
            clock.advance(1s);
            (void)filtered.now();
        }
    }
};

}  // namespace

TEST_CASE("a clock that runs true is believed") {
    Watch watch;
    for (int i = 0; i < 100; ++i) {
        watch.clock.advance(1234567ns * 1000);
        const Moment now = watch.filtered.now();
        CHECK(now.wall == watch.clock.wall());
        CHECK(now.steady == watch.clock.wall());
        CHECK(now.monotonic == watch.clock.monotonic());
        CHECK_FALSE(watch.filtered.held_leap());
    }
}

TEST_CASE("a leap since an earlier process is held, a correction and a step back are not") {
    support::VirtualClock clock;
    const domain::Nanoseconds before = FilteredClock{clock, leap, hold}.furthest();
    for (const Milliseconds step : {Milliseconds{-24h}, Milliseconds{0}, leap, leap + 1ms}) {
        CAPTURE(step.count());
        const Timestamp right = clock.wall();
        clock.step_wall(step);
        FilteredClock filtered{clock, leap, hold};
        filtered.go_on_from(before);
        const Moment now = filtered.now();
        CHECK(filtered.held_leap().has_value() == (step > leap));
        CHECK(now.wall == (step > leap ? right : clock.wall()));
        CHECK(now.steady == now.wall);
        clock.step_wall(-step);
    }
}

TEST_CASE("where a clock was before it was set back, it may be again, over two restarts as well") {
    Watch watch;
    watch.clock.step_wall(-2h);
    CHECK(watch.filtered.now().steady == watch.start);
    FilteredClock second{watch.clock, leap, hold};
    second.go_on_from(watch.filtered.furthest());
    CHECK(second.now().wall == watch.start - 2h);
    watch.clock.step_wall(2h);
    FilteredClock third{watch.clock, leap, hold};
    third.go_on_from(second.furthest());
    CHECK(third.now().wall == watch.start);
    CHECK_FALSE(third.held_leap());
}

TEST_CASE("small corrections are followed at once in both directions") {
    for (const Milliseconds step :
         {Milliseconds{-60s}, Milliseconds{-1ms}, Milliseconds{1ms}, Milliseconds{60s}}) {
        CAPTURE(step.count());
        Watch watch;
        watch.clock.step_wall(step);
        const Moment now = watch.filtered.now();
        CHECK(now.wall == watch.start + step);
        CHECK(now.steady == watch.start + step);
        CHECK_FALSE(watch.filtered.held_leap());
    }
}

TEST_CASE("a step back is followed at once, and the way forward again is no leap") {
    Watch watch;
    watch.clock.step_wall(-2h);
    CHECK(watch.filtered.now().wall == watch.start - 2h);
    CHECK(watch.filtered.now().steady == watch.start);
    watch.advance(5s);
    watch.clock.step_wall(2h);
    const Moment now = watch.filtered.now();
    CHECK(now.wall == watch.start + 5s);
    CHECK(now.steady == watch.start + 5s);
    CHECK_FALSE(watch.filtered.held_leap());
}

TEST_CASE("a leap ahead is held while time goes on, and forgotten when the clock comes back") {
    Watch watch;
    watch.clock.step_wall(24h);
    CHECK(watch.filtered.now().wall == watch.start);
    CHECK(watch.filtered.held_leap() == Milliseconds{24h});
    watch.advance(20s);
    CHECK(watch.filtered.now().wall == watch.start + 20s);
    CHECK(watch.filtered.now().steady == watch.start + 20s);
    watch.clock.step_wall(-24h);
    CHECK(watch.filtered.now().wall == watch.start + 20s);
    CHECK_FALSE(watch.filtered.held_leap());

    // The next leap is held from its own beginning.
    watch.clock.step_wall(24h);
    watch.advance(299s);
    CHECK(watch.filtered.held_leap());
}

TEST_CASE("a leap that stays is believed after the hold time; pauses still do not notice") {
    Watch watch;
    watch.clock.step_wall(24h);
    (void)watch.filtered.now();
    watch.advance(299s);
    CHECK(watch.filtered.now().wall == watch.start + 299s);
    watch.advance(1s);
    const Moment now = watch.filtered.now();
    CHECK(now.wall == watch.start + 24h + 300s);
    CHECK(now.steady == watch.start + 300s);
    CHECK_FALSE(watch.filtered.held_leap());
}

TEST_CASE("a clock that leaps from place to place is not believed at any of them") {
    Watch watch;
    for (int place = 1; place <= 10; ++place) {
        watch.clock.step_wall(1h);
        (void)watch.filtered.now();
        watch.advance(200s);
        REQUIRE(watch.filtered.held_leap());
    }
    CHECK(watch.filtered.now().wall == watch.start + 2000s);
    watch.advance(100s);
    CHECK(watch.filtered.now().wall == watch.start + 10h + 2100s);
}

TEST_CASE("small corrections while a leap is held do not start the hold anew") {
    Watch watch;
    watch.clock.step_wall(24h);
    (void)watch.filtered.now();
    watch.advance(150s);
    watch.clock.step_wall(-500ms);
    watch.advance(150s);
    CHECK_FALSE(watch.filtered.held_leap());
    CHECK(watch.filtered.now().wall == watch.clock.wall());
}

TEST_CASE("a suspended machine is no leap: both clocks counted it") {
    Watch watch;
    watch.clock.advance(8h);
    CHECK(watch.filtered.now().wall == watch.start + 8h);
    CHECK_FALSE(watch.filtered.held_leap());
}
