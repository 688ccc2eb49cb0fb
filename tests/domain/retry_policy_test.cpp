#include "domain/retry_policy.hpp"

#include <doctest/doctest.h>

#include <array>
#include <limits>

using namespace domain;
using namespace std::chrono_literals;

TEST_CASE("pauses double from the first to the maximum") {
    constexpr Milliseconds longest = Milliseconds::max();
    constexpr std::uint32_t endless = std::numeric_limits<std::uint32_t>::max();
    struct Row {
        RetryPolicy policy;
        std::uint32_t failures;
        Milliseconds pause;
    };
    const std::array rows{
        Row{{}, 1, 500ms},
        Row{{}, 2, 1'000ms},
        Row{{}, 6, 16'000ms},
        Row{{}, 7, 30'000ms},
        Row{{}, 63, 30'000ms},
        Row{{}, 64, 30'000ms},
        Row{{}, 65, 30'000ms},
        Row{{}, endless, 30'000ms},
        Row{{.first = 1'000ms, .max = 1'000ms}, 1, 1'000ms},
        Row{{.first = 1'000ms, .max = 1'000ms}, 2, 1'000ms},
        Row{{.first = 2'000ms, .max = 1'000ms}, 1, 1'000ms},
        Row{{.first = 1ms, .max = 8ms}, 4, 8ms},
        Row{{.first = 1ms, .max = 7ms}, 4, 7ms},
        Row{{.first = 0ms, .max = 7ms}, endless, 0ms},
        Row{{.first = 1ms, .max = longest}, 63, Milliseconds{std::int64_t{1} << 62}},
        Row{{.first = 2ms, .max = longest}, 62, Milliseconds{std::int64_t{1} << 62}},
        Row{{.first = 2ms, .max = longest}, 63, longest},
        Row{{.first = longest, .max = longest}, 1, longest},
        Row{{.first = longest, .max = longest}, 2, longest},
    };
    for (const Row& row : rows) {
        CAPTURE(row.policy.first.count());
        CAPTURE(row.policy.max.count());
        CAPTURE(row.failures);
        CHECK(row.policy.pause(row.failures).count() == row.pause.count());
    }
}

TEST_CASE("shares wait 2, 4, 8 … 64 seconds and never longer") {
    const std::array<std::chrono::seconds, 8> expected{2s, 4s, 8s, 16s, 32s, 64s, 64s, 64s};
    for (std::uint32_t failures = 1; failures <= expected.size(); ++failures) {
        CAPTURE(failures);
        CHECK(share_backoff(failures) == expected.at(failures - 1));
    }
    CHECK(share_backoff(std::numeric_limits<std::uint32_t>::max()) == 64s);
    CHECK(share_attempts_max == 5);
}

TEST_CASE("with another first pause all of them change in proportion") {
    struct Row {
        Milliseconds first;
        std::uint32_t failures;
        Milliseconds pause;
    };
    const Milliseconds longest = Milliseconds::max();
    for (const Row& row : {Row{250ms, 1, 250ms}, Row{250ms, 2, 500ms}, Row{250ms, 4, 2s},
                           Row{250ms, 6, 8s}, Row{250ms, 7, 8s}, Row{0ms, 9, 0ms},
                           Row{longest, 1, longest}, Row{longest, 2, longest}}) {
        CAPTURE(row.first.count());
        CAPTURE(row.failures);
        CHECK(share_backoff(row.failures, row.first).count() == row.pause.count());
    }
}
