#pragma once

#include <string>

#include "ports/clock.hpp"

namespace platform {

// The machine's clocks: CLOCK_REALTIME for the wall, CLOCK_BOOTTIME for what must not step and must
// go on while the machine sleeps. Any thread.
class RealClock : public ports::Clock {
public:
    // `behind`: so much less than the machine's does the wall clock say.
    explicit RealClock(domain::Nanoseconds behind = {});

    [[nodiscard]] domain::Timestamp wall() const override;
    [[nodiscard]] domain::Monotonic monotonic() const override;
    // The kernel's random boot_id, proc(5); where a sandbox hides it, BOOT_ID of the environment.
    [[nodiscard]] std::string boot() const override { return boot_; }

private:
    const domain::Nanoseconds behind_;
    // Read once: a process that is out of descriptors later must not get another word.
    const std::string boot_;
};

}  // namespace platform
