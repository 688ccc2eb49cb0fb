#include <doctest/doctest.h>

#include <chrono>

#include "chains/jsonrpc/standing.hpp"

namespace support {
namespace {

using namespace std::chrono_literals;
using chains::jsonrpc::Standing;

constexpr domain::Monotonic start{1'000s};

TEST_CASE("a throttled URL waits, the rest rounded up, and the longer wait counts") {
    Standing standing;
    CHECK(standing.throttled_for(start) == 0ms);
    standing.throttle(7s, start);
    standing.throttle(1s, start);
    CHECK(standing.throttled_for(start) == 7s);
    CHECK(standing.throttled_for(start + 6'999ms + 1ns) == 1ms);
    CHECK(standing.throttled_for(start + 7s) == 0ms);
}

TEST_CASE("three failures in a row, and one look every 5 s until an answer") {
    Standing standing;
    for (int failure = 0; failure < 2; ++failure) standing.note_failure(start);
    standing.note_answer();
    for (int failure = 0; failure < 2; ++failure) standing.note_failure(start);
    CHECK_FALSE(standing.should_avoid(start));
    standing.note_failure(start);
    CHECK(standing.should_avoid(start));
    CHECK(standing.should_avoid(start + 4'999ms));
    CHECK_FALSE(standing.should_avoid(start + 5s));
    CHECK(standing.should_avoid(start + 5s));  // while that one looks
    standing.note_failure(start + 6s);
    CHECK(standing.should_avoid(start + 10s));
    CHECK_FALSE(standing.should_avoid(start + 11s));
    standing.note_answer();
    CHECK_FALSE(standing.should_avoid(start + 11s));
}

}  // namespace
}  // namespace support
