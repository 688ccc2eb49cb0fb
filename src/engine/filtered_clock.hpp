#pragma once

#include <optional>

#include "domain/time.hpp"
#include "ports/clock.hpp"

namespace engine {

struct Moment {
    domain::Timestamp wall;    // believed: for what is due at a time of day
    domain::Timestamp steady;  // never leaps: for pauses, leases and deadlines
    domain::Monotonic monotonic;
};

// A wall clock that does not believe every leap. Steps back are followed at once: nothing is ever
// done early. A leap ahead beyond the limit is held: time goes on as the monotonic clock counts,
// until the wall clock stayed in its new place for the hold time, or came back. The steady time
// starts as the wall clock's and follows small corrections, but no step beyond the limit in either
// direction. One thread.
class FilteredClock {
public:
    FilteredClock(const ports::Clock& clock, domain::Milliseconds leap, domain::Milliseconds hold);

    [[nodiscard]] Moment now();

    // The furthest offset, wall minus monotonic, ever believed: a way back to it is no leap.
    [[nodiscard]] domain::Nanoseconds furthest() const { return furthest_; }

    // Before the first now(): the furthest of an earlier process, of the same two clocks. A wall
    // clock that is too far ahead of it has leapt since.
    void go_on_from(domain::Nanoseconds furthest);

    // How far ahead the clock claims to be while it is not believed.
    [[nodiscard]] std::optional<domain::Milliseconds> held_leap() const { return held_leap_; }

private:
    const ports::Clock& clock_;
    domain::Milliseconds leap_;
    domain::Milliseconds hold_;
    // Wall minus monotonic: constant while the clock runs true.
    domain::Nanoseconds believed_{};
    domain::Nanoseconds steady_{};
    domain::Nanoseconds furthest_{};
    domain::Nanoseconds suspect_{};
    domain::Monotonic suspect_since_{};
    std::optional<domain::Milliseconds> held_leap_;
};

}  // namespace engine
