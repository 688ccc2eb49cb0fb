#pragma once

#include "domain/time.hpp"

namespace ports {

// Port. Any thread.
class Clock {
public:
    virtual ~Clock() = default;
    [[nodiscard]] virtual domain::Timestamp wall() const = 0;
    [[nodiscard]] virtual domain::Monotonic monotonic() const = 0;
};

}  // namespace ports
