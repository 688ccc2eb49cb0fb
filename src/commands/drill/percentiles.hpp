#pragma once

#include <cstddef>
#include <vector>

namespace commands::drill {

// Of samples in milliseconds; each figure is one of them (nearest rank).
struct Percentiles {
    std::size_t count = 0;  // 0: there is nothing to say
    double p50 = 0;
    double p99 = 0;
    double max = 0;
};

[[nodiscard]] Percentiles percentiles(std::vector<double> samples);

}  // namespace commands::drill
