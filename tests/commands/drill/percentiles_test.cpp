#include "commands/drill/percentiles.hpp"

#include <doctest/doctest.h>

#include <vector>

using commands::drill::Percentiles;
using commands::drill::percentiles;

TEST_CASE("a percentile is the smallest sample that so many are not above") {
    struct Row {
        std::vector<double> samples;
        Percentiles expected;
    };
    std::vector<double> hundred;
    for (int i = 100; i > 0; --i) hundred.push_back(i);
    std::vector<double> many = hundred;
    for (int i = 101; i <= 200; ++i) many.push_back(i);
    const std::vector<Row> rows{
        {{}, {0, 0, 0, 0}},        {{7}, {1, 7, 7, 7}},           {{2, 1}, {2, 1, 2, 2}},
        {{3, 1, 2}, {3, 2, 3, 3}}, {hundred, {100, 50, 99, 100}}, {many, {200, 100, 198, 200}},
    };
    for (const Row& row : rows) {
        CAPTURE(row.samples.size());
        const Percentiles found = percentiles(row.samples);
        CHECK(found.count == row.expected.count);
        CHECK(found.p50 == row.expected.p50);
        CHECK(found.p99 == row.expected.p99);
        CHECK(found.max == row.expected.max);
    }
}
