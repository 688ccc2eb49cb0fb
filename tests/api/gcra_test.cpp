#include "api/access/gcra.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

namespace {

using api::access::Gcra;
using domain::Monotonic;
using domain::Nanoseconds;

using namespace std::chrono_literals;

constexpr std::uint64_t one = 1'000'000;

Monotonic at(Nanoseconds time) {
    return Monotonic{time};
}

// The wait at that moment; 0 when admitted.
std::int64_t wait(Gcra& limiter, Nanoseconds time) {
    return limiter.refused(at(time)).value_or(0ns).count();
}

int admitted(Gcra& limiter, Nanoseconds time, int tries) {
    int count = 0;
    for (int i = 0; i < tries; ++i) count += limiter.refused(at(time)) ? 0 : 1;
    return count;
}

TEST_CASE("a burst passes at once, then one after the other") {
    Gcra limiter({2 * one, 3});
    const Nanoseconds start = 1'000s;
    CHECK(admitted(limiter, start, 3) == 3);
    CHECK(wait(limiter, start) == 500'000'000);
    CHECK(wait(limiter, start) == 500'000'000);  // being refused costs nothing
    CHECK(wait(limiter, start + 499'999'999ns) == 1);
    CHECK(wait(limiter, start + 500ms) == 0);
    CHECK(wait(limiter, start + 500ms) == 500'000'000);
    CHECK(admitted(limiter, start + 1'250ms, 5) == 1);
    CHECK(admitted(limiter, start + 1'500ms, 5) == 1);
}

TEST_CASE("who keeps to its rate is never refused") {
    Gcra limiter({10 * one, 1});
    for (int i = 0; i < 1'000; ++i) CHECK(wait(limiter, 7s + i * 100ms) == 0);
    CHECK(wait(limiter, 7s + 999 * 100ms + 99'999'999ns) == 1);
}

TEST_CASE("a long pause gives one burst and no more") {
    Gcra limiter({one, 4});
    CHECK(admitted(limiter, 10s, 10) == 4);
    CHECK(admitted(limiter, 24h * 3'650, 10) == 4);
    CHECK(wait(limiter, 24h * 3'650) == 1'000'000'000);
}

TEST_CASE("the clock may begin at zero, and before it") {
    Gcra limiter({one, 2});
    CHECK(admitted(limiter, 0s, 5) == 2);
    CHECK(wait(limiter, 0s) == 1'000'000'000);
    CHECK(wait(limiter, 1s) == 0);
    Gcra before({one, 2});
    CHECK(admitted(before, -5s, 5) == 2);
}

TEST_CASE("a clock reading that is a little older is no gift") {
    Gcra limiter({one, 1});
    CHECK(wait(limiter, 10s) == 0);
    CHECK(wait(limiter, 9s) == 2'000'000'000);
    CHECK(wait(limiter, 11s) == 0);
}

TEST_CASE("fractions of a request per second wait to the nanosecond") {
    struct Row {
        std::uint64_t micro_per_second;
        std::int64_t wait_ns;
    };
    const Row rows[] = {
        {10'000, 100'000'000'000}, {500'000, 2'000'000'000}, {one, 1'000'000'000},
        {3 * one, 333'333'334},    {7 * one, 142'857'143},   {333'333, 3'000'003'001},
        {999'999, 1'000'001'001},  {10'000 * one, 100'000},  {9'999'999'999, 100'001},
    };
    for (const Row& row : rows) {
        CAPTURE(row.micro_per_second);
        Gcra limiter({row.micro_per_second, 1});
        CHECK(wait(limiter, 0ns) == 0);
        CHECK(wait(limiter, 0ns) == row.wait_ns);
        CHECK(wait(limiter, Nanoseconds{row.wait_ns - 1}) == 1);
        CHECK(wait(limiter, Nanoseconds{row.wait_ns}) == 0);
    }
}

// Time jumps from one admission to the next; the last one is where exact division puts it. The
// first two are a burst, which forgives what whole nanoseconds make the others late.
TEST_CASE("a million requests drift by nothing") {
    constexpr std::int64_t count = 1'000'000;
    struct Row {
        std::uint64_t micro_per_second;
        std::int64_t last_ns;  // ceil(count * 10^15 / micro_per_second)
    };
    const Row rows[] = {
        {3 * one, 333'333'333'333'334},    {7 * one, 142'857'142'857'143},
        {10'000, 100'000'000'000'000'000}, {999'983, 1'000'017'000'289'005},
        {9'999'999'999, 100'000'000'011},
    };
    for (const Row& row : rows) {
        CAPTURE(row.micro_per_second);
        Gcra limiter({row.micro_per_second, 2});
        std::int64_t now_ns = 0;
        std::int64_t passed = 0;
        while (passed < count + 2) {
            const std::int64_t wait_ns = wait(limiter, Nanoseconds{now_ns});
            if (wait_ns == 0) {
                ++passed;
            } else {
                now_ns += wait_ns;
            }
        }
        CHECK(now_ns == row.last_ns);
    }
}

TEST_CASE("who comes back just as told is admitted each time") {
    Gcra limiter({3 * one, 1});
    std::int64_t now_ns = 123'456'789;
    for (int i = 0; i < 100'000; ++i) {
        REQUIRE(wait(limiter, Nanoseconds{now_ns}) == 0);
        now_ns += wait(limiter, Nanoseconds{now_ns});
    }
}

TEST_CASE("many threads share one burst") {
    Gcra limiter({one, 1'000});
    std::atomic<int> passed{0};
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back([&] { passed += admitted(limiter, 5s, 1'000); });
        }
    }
    CHECK(passed == 1'000);
}

TEST_CASE("the fastest rate still counts after fifty years") {
    Gcra limiter({10'000 * one, 100'000});
    const Nanoseconds late = 24h * 365 * 50;
    CHECK(admitted(limiter, late, 100'001) == 100'000);
    CHECK(wait(limiter, late) == 100'000);
}

}  // namespace
