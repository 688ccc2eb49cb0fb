#pragma once

#include <string>

#include "domain/time.hpp"

namespace ports {

// Port. Any thread.
class Clock {
public:
    virtual ~Clock() = default;
    [[nodiscard]] virtual domain::Timestamp wall() const = 0;
    [[nodiscard]] virtual domain::Monotonic monotonic() const = 0;
    // One word for what monotonic() counts from: its values compare with those of an earlier
    // process that was given the same word. Empty: with none.
    [[nodiscard]] virtual std::string boot() const = 0;
};

}  // namespace ports
