#pragma once

#include <cstdint>

#include "domain/time.hpp"

namespace domain {

// Pauses between tries: first, 2·first, 4·first … up to max.
struct RetryPolicy {
    Milliseconds first{500};
    Milliseconds max{30'000};

    // After the n-th failure in a row, n >= 1. Overflow-safe for any n.
    [[nodiscard]] Milliseconds pause(std::uint32_t failures) const;
};

// Shares (share-helper 3.1): how many failed attempts there are, and the pause after the n-th of
// them, n >= 1; it doubles each time, five times at most.
inline constexpr std::uint32_t share_attempts_max = 5;
[[nodiscard]] Milliseconds share_backoff(std::uint32_t failures,
                                         Milliseconds first = Milliseconds{2'000});

}  // namespace domain
