#include "bench/measure.hpp"

#include <algorithm>
#include <cassert>

namespace bench {

double seconds_since(Stopwatch::time_point begin) {
    return std::chrono::duration<double>(Stopwatch::now() - begin).count();
}

double Series::at(std::size_t permille) const {
    assert(!samples_.empty());
    std::vector<double> sorted = samples_;
    std::ranges::sort(sorted);
    return sorted[std::min(sorted.size() * permille / 1000, sorted.size() - 1)];
}

}  // namespace bench
