#include "engine/filtered_clock.hpp"

#include <algorithm>
#include <cassert>

namespace engine {

using domain::Milliseconds;
using domain::Nanoseconds;

namespace {

Nanoseconds offset_of(const ports::Clock& clock, domain::Monotonic monotonic) {
    return Nanoseconds{clock.wall().time_since_epoch()} - monotonic.time_since_epoch();
}

domain::Timestamp at(domain::Monotonic monotonic, Nanoseconds offset) {
    return std::chrono::floor<Milliseconds>(
        std::chrono::sys_time<Nanoseconds>{monotonic.time_since_epoch() + offset});
}

}  // namespace

FilteredClock::FilteredClock(const ports::Clock& clock, Milliseconds leap, Milliseconds hold)
    : clock_(clock), leap_(leap), hold_(hold) {
    assert(leap_ >= Milliseconds::zero() && hold_ >= Milliseconds::zero());
    believed_ = furthest_ = steady_ = offset_of(clock_, clock_.monotonic());
}

void FilteredClock::go_on_from(Nanoseconds furthest) {
    assert(!held_leap_);
    if (believed_ > furthest + leap_) believed_ = furthest_ = steady_ = furthest;
    furthest_ = std::max(furthest_, furthest);
}

Moment FilteredClock::now() {
    const domain::Monotonic monotonic = clock_.monotonic();
    const Nanoseconds offset = offset_of(clock_, monotonic);

    const bool leapt = offset > std::max(believed_, furthest_) + leap_;
    if (!leapt) {
        believed_ = offset;
        held_leap_.reset();
    } else {
        const bool same_place = held_leap_ && std::chrono::abs(offset - suspect_) <= leap_;
        if (!same_place) suspect_since_ = monotonic;
        suspect_ = offset;
        held_leap_ = std::chrono::duration_cast<Milliseconds>(offset - believed_);
        if (monotonic - suspect_since_ >= hold_) {
            believed_ = offset;
            held_leap_.reset();
        }
    }
    furthest_ = std::max(furthest_, believed_);
    if (std::chrono::abs(offset - steady_) <= leap_) steady_ = offset;
    // What is held is ahead of what is believed, or nothing would have to be held.
    assert(!held_leap_ || believed_ < offset);
    return {at(monotonic, believed_), at(monotonic, steady_), monotonic};
}

}  // namespace engine
