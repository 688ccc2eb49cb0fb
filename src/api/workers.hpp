#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "api/connection.hpp"

namespace api {

// Threads that answer requests and may block doing so.
class Workers {
public:
    using Work = std::function<void(const std::shared_ptr<Connection>&)>;

    // `work` must not throw.
    Workers(unsigned count, Work work);
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;
    // Drops what no worker has begun and waits for the rest.
    ~Workers();

    [[nodiscard]] static bool is_worker_thread();

    // Any thread. Takes all of `connections` and leaves it empty.
    void push(std::vector<std::shared_ptr<Connection>>& connections);

private:
    void run();

    const Work work_;
    std::mutex mutex_;
    std::condition_variable arrival_;
    std::deque<std::shared_ptr<Connection>> queue_;
    std::size_t sleeping_ = 0;
    bool waking_ = false;
    bool stopped_ = false;
    std::vector<std::jthread> threads_;
};

}  // namespace api
