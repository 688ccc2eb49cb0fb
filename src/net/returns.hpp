#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "net/file_descriptor.hpp"
#include "net/input_buffer.hpp"
#include "net/request_head.hpp"

namespace net {

class Connection;

// What connections share with their event loop, and their way back to it. They keep it alive, so
// an answer that comes after the server is gone finds a closed door instead of freed memory.
class Returns {
public:
    Returns(const ReadingLimits& limits, std::size_t buffered_bytes_max,
            std::chrono::seconds idle_timeout);

    // Any thread. The connection is the loop's from now on.
    void post(std::shared_ptr<Connection> connection);
    // Any thread. The loop looks around soon.
    void wake();

    // Any thread. How many requests wait for their answer.
    void open_exchange() { exchanges_.fetch_add(1, std::memory_order_relaxed); }
    void close_exchange() { exchanges_.fetch_sub(1, std::memory_order_relaxed); }
    [[nodiscard]] bool is_last_exchange() const {
        return exchanges_.load(std::memory_order_relaxed) <= 1;
    }
    // Any thread. The server is gone: there is nobody to answer for.
    [[nodiscard]] bool is_closed() const { return closed_.load(std::memory_order_acquire); }

    // The loop. Becomes readable after `post` and `wake`.
    [[nodiscard]] int descriptor() const { return event_.get(); }
    // The loop. Swaps what came back into `connections`, which must be empty.
    void take(std::vector<std::shared_ptr<Connection>>& connections);
    // The loop, at its end: drops what is here and what comes later.
    void close();

    // Any thread.
    void start_draining() { draining_.store(true, std::memory_order_relaxed); }
    [[nodiscard]] bool is_draining() const { return draining_.load(std::memory_order_relaxed); }
    [[nodiscard]] const ReadingLimits& limits() const { return limits_; }
    [[nodiscard]] std::chrono::seconds idle_timeout() const { return idle_timeout_; }
    [[nodiscard]] ByteBudget& budget() { return budget_; }

private:
    const ReadingLimits limits_;
    const std::chrono::seconds idle_timeout_;
    const FileDescriptor event_;
    ByteBudget budget_;
    std::atomic<std::size_t> exchanges_{0};
    std::atomic<bool> draining_{false};
    std::atomic<bool> signalled_{false};
    std::mutex mutex_;
    std::vector<std::shared_ptr<Connection>> connections_;
    std::atomic<bool> closed_{false};  // written under the mutex
};

}  // namespace net
