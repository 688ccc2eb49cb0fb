#include "engine/token_bucket.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <vector>

using domain::Monotonic;
using domain::Nanoseconds;
using engine::TokenBucket;
using namespace std::chrono_literals;

namespace {

constexpr Monotonic origin{Nanoseconds{5'000'000'000}};

std::uint64_t take_all(TokenBucket& bucket, Monotonic now) {
    std::uint64_t taken = 0;
    while (bucket.try_take(now)) ++taken;
    return taken;
}

// When each of `items` waiting items leaves if somebody looks exactly when told to.
std::vector<Nanoseconds> leave(TokenBucket bucket, std::size_t items) {
    std::vector<Nanoseconds> times;
    Monotonic now = origin;
    while (times.size() < items) {
        if (bucket.try_take(now)) {
            times.push_back(now - origin);
            continue;
        }
        const Monotonic next = bucket.next_token(now);
        REQUIRE(next > now);
        now = next;
    }
    return times;
}

std::size_t before(const std::vector<Nanoseconds>& times, Nanoseconds end) {
    std::size_t count = 0;
    for (const Nanoseconds time : times) count += time < end ? 1 : 0;
    return count;
}

}  // namespace

TEST_CASE("the long-run rate is exact, also when it does not divide a second") {
    for (const std::uint32_t rate : {1U, 3U, 7U, 20U, 999U, 1000U}) {
        // Somebody looks at moments that have nothing to do with the rate.
        for (const Nanoseconds tick : {Nanoseconds{1'234'567}, Nanoseconds{7'777'777}}) {
            CAPTURE(rate);
            CAPTURE(tick.count());
            TokenBucket bucket{rate, 1'000'000, origin};
            CHECK(take_all(bucket, origin) == 1'000'000);
            std::uint64_t taken = 0;
            Monotonic now = origin;
            while (now + tick <= origin + 60s) {
                now += tick;
                taken += take_all(bucket, now);
            }
            now = origin + 60s;
            taken += take_all(bucket, now);
            CHECK(taken == 60ULL * rate);
        }
    }
}

TEST_CASE("who comes exactly when told finds a token, and not a nanosecond earlier") {
    for (const std::uint32_t rate : {1U, 3U, 7U, 999U}) {
        CAPTURE(rate);
        TokenBucket bucket{rate, 1, origin};
        Monotonic now = origin;
        REQUIRE(bucket.try_take(now));
        for (int i = 0; i < 1'000; ++i) {
            const Monotonic next = bucket.next_token(now);
            REQUIRE(next > now);
            REQUIRE_FALSE(bucket.try_take(next - 1ns));
            REQUIRE(bucket.next_token(next - 1ns) == next);
            REQUIRE(bucket.try_take(next));
            now = next;
        }
    }
}

TEST_CASE("T-142 the seed's figures: 20 items at 10 a second, 100 at 20") {
    const auto ten = leave({10, 10, origin}, 20);
    CHECK(before(ten, 1ns) == 10);
    CHECK(ten.back() == 1s);
    CHECK(ten[10] == 100ms);

    const auto twenty = leave({20, 20, origin}, 100);
    CHECK(before(twenty, 1s) == 39);
    CHECK(before(twenty, 1s + 1ns) == 40);
    CHECK(before(twenty, 2s + 1ns) == 60);
    CHECK(twenty.back() == 4s);
}

TEST_CASE("idling saves up one burst and no more") {
    for (const std::uint32_t burst : {1U, 5U, 40U}) {
        CAPTURE(burst);
        TokenBucket bucket{20, burst, origin};
        CHECK(take_all(bucket, origin) == burst);
        CHECK(take_all(bucket, origin + 10h) == burst);
        CHECK(take_all(bucket, origin + 10h + 49ms) == 0);
        CHECK(take_all(bucket, origin + 10h + 50ms) == 1);
    }
}

TEST_CASE("a clock that stalls, leaps or goes back gives at most one burst (field report 49)") {
    TokenBucket bucket{20, 20, origin};
    CHECK(take_all(bucket, origin) == 20);
    for (int look = 0; look < 100; ++look) CHECK_FALSE(bucket.try_take(origin));
    CHECK(bucket.next_token(origin) == origin + 50ms);
    CHECK(take_all(bucket, origin + 1h) == 20);
    CHECK(bucket.next_token(origin + 1h) == origin + 1h + 50ms);
    CHECK(take_all(bucket, origin + 5s) == 0);  // an older reading of the clock
    CHECK(take_all(bucket, origin + 1h + 50ms) == 1);
    CHECK(take_all(bucket, Monotonic::max()) == 20);
}

TEST_CASE("the largest rates and bursts do not overflow") {
    constexpr std::uint32_t most = 4'294'967'295U;
    TokenBucket bucket{most, most, origin};
    CHECK(bucket.try_take(origin));
    CHECK(bucket.try_take(Monotonic::max()));
    CHECK(bucket.next_token(Monotonic::max()) == Monotonic::max());
}

TEST_CASE("a rate of nothing lets the burst through and says never") {
    TokenBucket bucket{0, 2, origin};
    CHECK(take_all(bucket, origin) == 2);
    CHECK(take_all(bucket, origin + 100h) == 0);
    CHECK(bucket.next_token(origin + 100h) == Monotonic::max());
}

TEST_CASE("changes of the rate give no tokens, however many (field 48)") {
    TokenBucket bucket{20, 20, origin};
    std::uint64_t taken = take_all(bucket, origin);
    for (int change = 0; change < 100; ++change) {
        bucket.change_rate(change % 2 == 0 ? 1'000 : 20, change % 2 == 0 ? 1'000 : 20, origin);
        taken += take_all(bucket, origin);
    }
    CHECK(taken == 20);

    bucket.change_rate(10, 40, origin);
    CHECK(take_all(bucket, origin + 1s) == 10);
    bucket.change_rate(10, 40, origin + 1s);
    bucket.change_rate(10, 5, origin + 10s);  // a smaller burst has no room for the rest
    CHECK(take_all(bucket, origin + 10s) == 5);
}
