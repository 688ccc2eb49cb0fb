#include "platform/real_clock.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>

using namespace std::chrono_literals;

TEST_CASE("the real clock tells the time of day and never runs backwards") {
    const platform::RealClock clock;

    const auto before = std::chrono::system_clock::now();
    const domain::Timestamp wall = clock.wall();
    const auto after = std::chrono::system_clock::now();
    CHECK(wall >= std::chrono::floor<domain::Milliseconds>(before));
    CHECK(wall <= after);

    domain::Monotonic last = clock.monotonic();
    CHECK(last.time_since_epoch() > 0ns);
    for (int i = 0; i < 1000; ++i) {
        const domain::Monotonic now = clock.monotonic();
        CHECK(now >= last);
        last = now;
    }
}

TEST_CASE("a boot has one name, whoever asks") {
    const std::string boot = platform::RealClock{}.boot();
    CHECK(boot.size() == 36);
    CHECK(boot == platform::RealClock{std::chrono::minutes{5}}.boot());
}
