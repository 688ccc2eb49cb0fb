#include "domain/retry_policy.hpp"

#include <algorithm>
#include <cassert>

namespace domain {

Milliseconds RetryPolicy::pause(std::uint32_t failures) const {
    assert(failures >= 1 && first.count() >= 0 && max.count() >= 0);
    const std::uint32_t doublings = std::min(failures - 1, std::uint32_t{62});
    // Compared by shifting the maximum down, so that nothing can overflow.
    if (first.count() > max.count() >> doublings) return max;
    const Milliseconds pause{first.count() << doublings};
    assert(pause <= max);
    return pause;
}

Milliseconds share_backoff(std::uint32_t failures, Milliseconds first) {
    assert(failures >= 1);
    constexpr std::uint32_t doublings_max = 5;
    return RetryPolicy{first, Milliseconds::max()}.pause(std::min(failures, doublings_max + 1));
}

}  // namespace domain
