#pragma once

#include "domain/time.hpp"

namespace ports {

// Port: who is told that the processor's loop goes round, so that somebody can replace a process
// whose loop does not.
class Heartbeat {
public:
    virtual ~Heartbeat() = default;
    // The longest pause between two beats that is welcome, above zero. Does not change.
    [[nodiscard]] virtual domain::Nanoseconds interval() const = 0;
    // The processor's thread. Must be quick and must not throw.
    virtual void beat() = 0;
};

}  // namespace ports
