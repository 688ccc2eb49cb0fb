#include "chains/loopback/seeded_random.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace chains::loopback;
using domain::Milliseconds;

namespace {

domain::Bytes subject(std::uint32_t number) {
    return {static_cast<std::uint8_t>(number >> 8U), static_cast<std::uint8_t>(number)};
}

}  // namespace

TEST_CASE("a fate depends on seed, matter and subject, not on the run or the order") {
    SeededRandom first{7, 1};
    SeededRandom second{7, 2};
    (void)second.next_number(Purpose::salt);
    int differs_by_seed = 0;
    int differs_by_purpose = 0;
    const SeededRandom other{8, 1};
    for (std::uint32_t number = 0; number < 1'000; ++number) {
        const bool hit = first.is_among(Purpose::revert, subject(number), 500);
        CHECK(hit == second.is_among(Purpose::revert, subject(number), 500));
        differs_by_seed += hit != other.is_among(Purpose::revert, subject(number), 500);
        differs_by_purpose += hit != first.is_among(Purpose::early_answer, subject(number), 500);
    }
    CHECK(differs_by_seed > 300);
    CHECK(differs_by_purpose > 300);
}

TEST_CASE("rolls repeat with seed and run, and differ between runs") {
    SeededRandom one{7, 1};
    SeededRandom again{7, 1};
    SeededRandom next_run{7, 2};
    std::set<std::uint64_t> seen;
    for (int turn = 0; turn < 1'000; ++turn) {
        const std::uint64_t number = one.next_number(Purpose::salt);
        CHECK(number == again.next_number(Purpose::salt));
        CHECK(seen.insert(number).second);
        CHECK(seen.insert(next_run.next_number(Purpose::salt)).second);
    }
}

TEST_CASE("a share hits about as many cases as it says") {
    for (const chains::loopback::Permille share : {0U, 10U, 250U, 900U, 1000U}) {
        CAPTURE(share);
        SeededRandom random{3, 1};
        std::uint32_t fates = 0;
        std::uint32_t chances = 0;
        for (std::uint32_t number = 0; number < 10'000; ++number) {
            fates += random.is_among(Purpose::revert, subject(number), share);
            chances += random.chance(Purpose::lost_reply, share);
        }
        const std::uint32_t expected = share * 10;
        const std::uint32_t tolerance = share % 1000 == 0 ? 0 : 150;
        CHECK(fates + tolerance >= expected);
        CHECK(fates <= expected + tolerance);
        CHECK(chances + tolerance >= expected);
        CHECK(chances <= expected + tolerance);
    }
}

TEST_CASE("a latency is drawn from its whole range") {
    SeededRandom random{3, 1};
    std::set<std::int64_t> drawn;
    for (int turn = 0; turn < 1'000; ++turn) {
        drawn.insert(random.draw({Milliseconds{5}, Milliseconds{8}}).count());
    }
    CHECK(drawn == std::set<std::int64_t>{5, 6, 7, 8});
    CHECK(random.draw(chains::loopback::fixed(Milliseconds{9})) == Milliseconds{9});
}

TEST_CASE("filler follows from its subject and label") {
    const domain::Bytes about{1, 2, 3};
    CHECK(filler(about, 1, 65) == filler(about, 1, 65));
    CHECK(filler(about, 1, 65) != filler(about, 2, 65));
    CHECK(filler({}, 1, 65) != filler(about, 1, 65));
    CHECK(filler(about, 1, 0).empty());
}
