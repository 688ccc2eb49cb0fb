#pragma once

#include <atomic>
#include <chrono>

#include "base/descriptor.hpp"

namespace base {

// Sockets wait in real time.
using Deadline = std::chrono::steady_clock::time_point;

enum class Wait { ready, timed_out, stopped };

// Set once, for ever; ends every wait on a socket. Any thread.
class StopToken {
public:
    StopToken();  // throws std::system_error

    void request_stop();
    [[nodiscard]] bool stop_requested() const { return requested_.load(); }
    [[nodiscard]] int descriptor() const { return event_.get(); }  // readable once set

    // Until the descriptor is ready for one of the `events` of poll(2) or has failed.
    [[nodiscard]] Wait wait(int descriptor, short events, Deadline deadline) const;

private:
    Descriptor event_;
    std::atomic<bool> requested_{false};
};

}  // namespace base
