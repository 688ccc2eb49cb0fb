#pragma once

#include <cstdint>

#include "domain/time.hpp"

namespace engine {

// Lets `per_second` pass each second in the long run, exactly, and at most `burst` at once after
// idling. Integer arithmetic on a monotonic clock; a clock that stalls and then leaps gives at most
// one burst.
class TokenBucket {
public:
    // Full at start.
    TokenBucket(std::uint32_t per_second, std::uint32_t burst, domain::Monotonic now);

    [[nodiscard]] bool try_take(domain::Monotonic now);
    // When the next token is there; `now` or earlier when there is one.
    [[nodiscard]] domain::Monotonic next_token(domain::Monotonic now) const;
    [[nodiscard]] std::uint32_t per_second() const { return per_second_; }
    // The tokens that are there stay, as far as the new burst has room for them (relayer-api 4.2).
    void change_rate(std::uint32_t per_second, std::uint32_t burst, domain::Monotonic now);

private:
    void refill(domain::Monotonic now);

    std::uint32_t per_second_;
    std::uint64_t full_;   // in billionths of a token
    std::uint64_t level_;  // same
    domain::Monotonic filled_;
};

}  // namespace engine
