#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "simulation/world.hpp"

namespace {

constexpr std::uint64_t first_seed = 1;
constexpr std::uint64_t seeds = 150;

}  // namespace

TEST_CASE("the engine keeps its promises for a slice of the seeds") {
    simulation::Tally sum;
    for (std::uint64_t seed = first_seed; seed < first_seed + seeds; ++seed) {
        CAPTURE(seed);
        REQUIRE_NOTHROW(sum += simulation::run(seed));
    }
    MESSAGE("seeds " << first_seed << " to " << first_seed + seeds - 1 << ": " << to_string(sum));
    // A slice that does nothing proves nothing.
    CHECK(sum.accepted > seeds * 5);
    CHECK(sum.crashes > seeds / 2);
    CHECK(sum.duplicates > 0);
    CHECK(sum.completed > sum.accepted / 4);
    CHECK(sum.timed_out > 0);
    CHECK(sum.failed > 0);
    CHECK(sum.stops > 0);
    CHECK(sum.alerts > 0);
}

TEST_CASE("a share that is proved when the clock is set back is put back, or sent") {
    for (const std::uint64_t seed : {325U, 326U, 327U, 598U, 1138U, 700182U}) {
        CAPTURE(seed);
        CHECK_NOTHROW(static_cast<void>(simulation::run(seed)));
    }
}

TEST_CASE("the same seed does the same things") {
    CHECK(to_string(simulation::run(7)) == to_string(simulation::run(7)));
}
