#include "commands/drill/percentiles.hpp"

#include <algorithm>

namespace commands::drill {

Percentiles percentiles(std::vector<double> samples) {
    if (samples.empty()) return {};
    std::ranges::sort(samples);
    const auto at = [&](std::size_t percent) {
        const std::size_t rank = (samples.size() * percent + 99) / 100;  // rounded up, from 1
        return samples[std::max<std::size_t>(rank, 1) - 1];
    };
    return {samples.size(), at(50), at(99), samples.back()};
}

}  // namespace commands::drill
