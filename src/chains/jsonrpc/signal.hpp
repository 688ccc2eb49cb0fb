#pragma once

#include <atomic>
#include <chrono>

#include "chains/jsonrpc/descriptor.hpp"

namespace chains::jsonrpc {

// Sockets wait in real time.
using Deadline = std::chrono::steady_clock::time_point;

enum class Wait { ready, timed_out, signalled };

// Set once, for ever; ends every wait on a socket. Any thread.
class Signal {
public:
    Signal();  // throws std::system_error

    void set();
    [[nodiscard]] bool is_set() const { return set_.load(); }
    [[nodiscard]] int descriptor() const { return event_.get(); }  // readable once set

    // Until the descriptor is ready for one of the `events` of poll(2) or has failed.
    [[nodiscard]] Wait wait(int descriptor, short events, Deadline deadline) const;

private:
    Descriptor event_;
    std::atomic<bool> set_{false};
};

}  // namespace chains::jsonrpc
