#pragma once

#include <functional>

#include "domain/time.hpp"

namespace ports {

// Port. Runs work outside the processor; a virtual one runs it in virtual time. Any thread.
// Tasks must not throw. Tasks of equal due time run in the order they were handed in when there
// is one worker.
class Executor {
public:
    using Task = std::function<void()>;

    virtual ~Executor() = default;
    virtual void run(Task task) = 0;
    virtual void run_after(domain::Milliseconds delay, Task task) = 0;
};

}  // namespace ports
