#include "config/quantities.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <vector>

using namespace std::chrono_literals;
using domain::Milliseconds;

TEST_CASE("durations are whole numbers with units") {
    struct Row {
        std::string_view text;
        std::optional<Milliseconds> expected;
    };
    const std::vector<Row> rows{
        {"30s", 30s},
        {"5m", 5min},
        {"250ms", 250ms},
        {"7d", 168h},
        {"365d", 8'760h},
        {"1h 30m", 90min},
        {"1h30m", 90min},
        {"30m 1h", 90min},
        {" 2 days ", 48h},
        {"1w 1sec", 168h + 1s},
        {"0s", 0s},
        {"3 hours", 3h},
        {"106751991167d", Milliseconds{106'751'991'167 * 86'400'000}},
        {"106751991168d", std::nullopt},
        {"9223372036854775807ms", Milliseconds::max()},
        {"9223372036854775808ms", std::nullopt},
        {"9223372036854775807ms 1ms", std::nullopt},
        {"", std::nullopt},
        {" ", std::nullopt},
        {"30", std::nullopt},
        {"s", std::nullopt},
        {"-1s", std::nullopt},
        {"1.5s", std::nullopt},
        {"1s,", std::nullopt},
        {"1 fortnight", std::nullopt},
        {"1S", std::nullopt},
        {"1s 2", std::nullopt},
    };
    for (const Row& row : rows) {
        CAPTURE(row.text);
        CHECK(config::parse_duration(row.text) == row.expected);
    }
}

TEST_CASE("a duration is written in the largest unit without a rest, and reads back") {
    struct Row {
        Milliseconds time;
        std::string_view expected;
    };
    const std::vector<Row> rows{
        {0ms, "0ms"},   {1ms, "1ms"},   {1'500ms, "1500ms"}, {30s, "30s"}, {90s, "90s"},
        {30min, "30m"}, {90min, "90m"}, {24h, "1d"},         {36h, "36h"}, {8'760h, "365d"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.expected);
        CHECK(config::format_duration(row.time) == row.expected);
        CHECK(config::parse_duration(row.expected) == row.time);
    }
}

TEST_CASE("moments are dates with an offset, or Unix seconds") {
    struct Row {
        std::string_view text;
        std::optional<std::int64_t> expected_ms;
    };
    const std::vector<Row> rows{
        {"1970-01-01T00:00:00Z", 0},
        {"2100-01-01T00:00:00Z", 4'102'444'800'000},
        {"2100-01-01 00:00:00z", 4'102'444'800'000},
        {"2000-02-29T12:30:45.25Z", 951'827'445'250},
        {"2000-02-29T14:30:45.2509+02:00", 951'827'445'250},
        {"2000-02-29T07:00:45-05:30", 951'827'445'000},
        {"4102444800", 4'102'444'800'000},
        {"0", 0},
        {"-1", std::nullopt},
        {"253402300800", std::nullopt},
        {"2100-01-01", std::nullopt},
        {"2100-01-01T00:00:00", std::nullopt},
        {"2100-02-29T00:00:00Z", std::nullopt},
        {"2100-01-01T24:00:00Z", std::nullopt},
        {"2100-01-01T00:60:00Z", std::nullopt},
        {"2100-01-01T00:00:00.Z", std::nullopt},
        {"2100-01-01T00:00:00Zulu", std::nullopt},
        // The offset leads out of the years 0 to 9999, which alone can be written.
        {"0000-01-01T00:00:00+00:01", std::nullopt},
        {"0000-01-01T00:01:00+00:01", -62'167'219'200'000},
        {"9999-12-31T23:59:59.999Z", 253'402'300'799'999},
        {"9999-12-31T23:59:59-00:01", std::nullopt},
        {"tomorrow", std::nullopt},
        {"", std::nullopt},
    };
    for (const Row& row : rows) {
        CAPTURE(row.text);
        const auto time = config::parse_time(row.text);
        CHECK(time.has_value() == row.expected_ms.has_value());
        if (!time || !row.expected_ms) continue;
        CHECK(domain::unix_ms(*time) == *row.expected_ms);
        CHECK(config::parse_time(config::format_time(*time)) == time);
    }
    CHECK(config::format_time(domain::from_unix_ms(951'827'445'250)) == "2000-02-29T12:30:45.250Z");
    CHECK(config::format_time(domain::from_unix_ms(4'102'444'800'000)) == "2100-01-01T00:00:00Z");
}
