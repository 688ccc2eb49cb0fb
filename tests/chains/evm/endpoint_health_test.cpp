#include <doctest/doctest.h>

#include <chrono>

#include "chains/jsonrpc/endpoint_health.hpp"

namespace support {
namespace {

using namespace std::chrono_literals;
using chains::jsonrpc::EndpointHealth;

constexpr domain::Monotonic start{1'000s};

TEST_CASE("a throttled URL waits, the rest rounded up, and the longer wait counts") {
    EndpointHealth health;
    CHECK(health.throttled_for(start) == 0ms);
    health.throttle(7s, start);
    health.throttle(1s, start);
    CHECK(health.throttled_for(start) == 7s);
    CHECK(health.throttled_for(start + 6'999ms + 1ns) == 1ms);
    CHECK(health.throttled_for(start + 7s) == 0ms);
}

TEST_CASE("three failures in a row, and one look every 5 s until an answer") {
    EndpointHealth health;
    for (int failure = 0; failure < 2; ++failure) health.note_failure(start);
    health.note_answer();
    for (int failure = 0; failure < 2; ++failure) health.note_failure(start);
    CHECK_FALSE(health.should_avoid(start));
    health.note_failure(start);
    CHECK(health.should_avoid(start));
    CHECK(health.should_avoid(start + 4'999ms));
    CHECK_FALSE(health.should_avoid(start + 5s));
    CHECK(health.should_avoid(start + 5s));  // while that one looks
    health.note_failure(start + 6s);
    CHECK(health.should_avoid(start + 10s));
    CHECK_FALSE(health.should_avoid(start + 11s));
    health.note_answer();
    CHECK_FALSE(health.should_avoid(start + 11s));
}

TEST_CASE("the size of batches is limited for ten minutes, also when they are throttled") {
    EndpointHealth health;
    CHECK(health.batch_max(start) > 1'000'000);
    health.limit_batches(25, start);
    CHECK(health.batch_max(start + 10min - 1ns) == 25);
    CHECK(health.batch_max(start + 10min) > 1'000'000);

    const domain::Monotonic later = start + 1h;
    for (const bool throttled : {true, true, false, true, true}) {
        health.note_batch(50, throttled, later);
        CHECK(health.batch_max(later) > 1'000'000);
    }
    health.note_batch(50, true, later);
    CHECK(health.batch_max(later) == 25);
    health.note_batch(25, true, later);
    CHECK(health.batch_max(later) == 12);
}

}  // namespace
}  // namespace support
