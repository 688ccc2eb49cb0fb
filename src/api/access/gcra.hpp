#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "domain/time.hpp"

namespace api::access {

// How often somebody may post.
struct Allowance {
    std::uint64_t micro_per_second = 0;  // millionths of a request, 10^4 to 10^10
    std::uint32_t burst = 1;             // requests at once after a pause, at least 1

    bool operator==(const Allowance&) const = default;
};

// The generic cell rate algorithm: one number per client, the theoretical arrival time of its next
// request. It counts in millionths of a request since the clock's zero, in which every rate is
// whole: nothing is rounded from one request to the next, however many there are. Any thread.
class Gcra {
public:
    // Full at start.
    explicit Gcra(const Allowance& allowance);

    // Nothing: admitted and counted. Otherwise the time from `now`, at least 1 ns, after which the
    // next request would be admitted; nothing is counted then.
    [[nodiscard]] std::optional<domain::Nanoseconds> refused(domain::Monotonic now);

    [[nodiscard]] const Allowance& allowance() const { return allowance_; }

private:
    const Allowance allowance_;
    std::atomic<std::uint64_t> arrival_{0};
};

}  // namespace api::access
