#pragma once

#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

namespace bench {

using Stopwatch = std::chrono::steady_clock;

[[nodiscard]] double seconds_since(Stopwatch::time_point begin);

// The samples of one figure, in the order they were taken.
class Series {
public:
    Series() = default;
    explicit Series(std::vector<double> samples) : samples_(std::move(samples)) {}

    void add(double sample) { samples_.push_back(sample); }

    [[nodiscard]] const std::vector<double>& samples() const { return samples_; }
    [[nodiscard]] bool empty() const { return samples_.empty(); }
    // `permille` 500 is the median, 1000 the greatest. Not for an empty series.
    [[nodiscard]] double at(std::size_t permille) const;
    [[nodiscard]] double median() const { return at(500); }

private:
    std::vector<double> samples_;
};

}  // namespace bench
