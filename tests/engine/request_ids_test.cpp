#include "engine/request_ids.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <set>

#include "support/virtual_time.hpp"

using domain::RequestId;
using domain::Timestamp;
using engine::RequestIds;
using namespace std::chrono_literals;

namespace {
constexpr Timestamp june = domain::from_unix_ms(1'780'272'000'000);
}

TEST_CASE("ids rise strictly and are unguessable, whatever the clock does") {
    struct Row {
        const char* label;
        domain::Milliseconds step;
    };
    for (const Row& row : {Row{"within one millisecond", 0ms}, Row{"the clock runs", 1ms},
                           Row{"the clock runs back", -1ms}}) {
        CAPTURE(row.label);
        support::SeededRandom random{1};
        RequestIds ids{random, 0};
        Timestamp now = june;
        RequestId last{};
        std::set<std::int64_t> secrets;
        for (int i = 0; i < 10'000; ++i, now += row.step) {
            const RequestId id = ids.next(now);
            REQUIRE(id.sequence > last.sequence);
            REQUIRE(id.random >= 0);
            secrets.insert(id.random);
            last = id;
        }
        CHECK(secrets.size() == 10'000);
    }
}

TEST_CASE("an id tells the millisecond it was made in") {
    support::SeededRandom random{1};
    RequestIds ids{random, 0};
    CHECK(ids.next(june).sequence == domain::unix_ms(june) << 12);
    CHECK(ids.next(june).sequence == (domain::unix_ms(june) << 12) + 1);
    CHECK(ids.next(june + 1ms).sequence == domain::unix_ms(june + 1ms) << 12);
    CHECK(to_string(ids.next(june + 2ms)).at(14) == '7');
}

TEST_CASE("more ids than a millisecond has room for flow over into the next") {
    support::SeededRandom random{1};
    RequestIds ids{random, 0};
    std::int64_t last = 0;
    for (int i = 0; i < 5'000; ++i) last = ids.next(june).sequence;
    CHECK(last == (domain::unix_ms(june) << 12) + 4'999);
    CHECK(ids.next(june + 1ms).sequence == last + 1);
}

TEST_CASE("a restart with a clock that went back goes on above the last id") {
    support::SeededRandom random{1};
    RequestIds before{random, 0};
    const std::int64_t last = before.next(june).sequence;
    RequestIds after{random, last};
    CHECK(after.next(june - 24h).sequence == last + 1);
    CHECK(after.next(domain::from_unix_ms(-5)).sequence == last + 2);
}
