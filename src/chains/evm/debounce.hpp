#pragma once

#include <chrono>
#include <cstdint>

#include "domain/time.hpp"

namespace chains::evm {

// Three answers in a row that say the same, over five seconds: one of them may have come from a
// node that lags behind the others at the same address, or may be wrong. One thread at a time.
class Debounce {
public:
    // Whether it is to be believed now.
    [[nodiscard]] bool observe(domain::Monotonic now) {
        if (times_ == 0) since_ = now;
        ++times_;
        return times_ >= 3 && now - since_ >= std::chrono::seconds{5};
    }
    void reset() { times_ = 0; }

private:
    std::uint32_t times_ = 0;
    domain::Monotonic since_{};
};

}  // namespace chains::evm
