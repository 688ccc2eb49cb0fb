#include "platform/secure_random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <thread>
#include <vector>

TEST_CASE("random bytes fill every size, also across the buffer's end") {
    platform::SecureRandom random;
    for (const std::size_t size : {1U, 7U, 16U, 1000U, 1023U, 1024U, 1025U, 100'000U}) {
        CAPTURE(size);
        std::vector<bool> touched(size, false);
        std::vector<std::uint8_t> bytes(size);
        // A byte that stays zero sixteen times in a row is one that nobody writes.
        for (int round = 0; round < 16; ++round) {
            std::ranges::fill(bytes, std::uint8_t{0});
            random.fill(bytes);
            for (std::size_t i = 0; i < size; ++i) touched[i] = touched[i] || bytes[i] != 0;
        }
        CHECK(std::ranges::count(touched, false) == 0);
    }
    random.fill({});
}

TEST_CASE("no two draws are equal, in one thread or in two") {
    platform::SecureRandom random;
    std::vector<std::uint64_t> here(5'000);
    std::vector<std::uint64_t> there(5'000);
    std::thread other{[&] { std::ranges::generate(there, [&] { return random.next(); }); }};
    std::ranges::generate(here, [&] { return random.next(); });
    other.join();

    std::set<std::uint64_t> all{here.begin(), here.end()};
    all.insert(there.begin(), there.end());
    CHECK(all.size() == here.size() + there.size());
}

TEST_CASE("about half of all bits are set") {
    platform::SecureRandom random;
    std::uint64_t ones = 0;
    constexpr std::uint64_t draws = 10'000;
    for (std::uint64_t i = 0; i < draws; ++i) {
        ones += static_cast<std::uint64_t>(__builtin_popcountll(random.next()));
    }
    // 20 standard deviations around 320,000.
    CHECK(ones > 312'000);
    CHECK(ones < 328'000);
}
