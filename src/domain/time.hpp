#pragma once

#include <chrono>
#include <cstdint>

namespace domain {

using Milliseconds = std::chrono::milliseconds;
using Nanoseconds = std::chrono::nanoseconds;

// Wall clock, Unix epoch, UTC.
using Timestamp = std::chrono::sys_time<Milliseconds>;

// Never steps and counts suspended time; its zero means nothing.
struct MonotonicClock {
    using rep = Nanoseconds::rep;
    using period = Nanoseconds::period;
    using duration = Nanoseconds;
    using time_point = std::chrono::time_point<MonotonicClock, Nanoseconds>;
    static constexpr bool is_steady = true;
};
using Monotonic = MonotonicClock::time_point;

[[nodiscard]] constexpr std::int64_t unix_ms(Timestamp time) {
    return time.time_since_epoch().count();
}

[[nodiscard]] constexpr Timestamp from_unix_ms(std::int64_t ms) {
    return Timestamp{Milliseconds{ms}};
}

}  // namespace domain
