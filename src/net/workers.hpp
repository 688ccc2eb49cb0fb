#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "net/connection.hpp"

namespace net {

// Threads that take turns: one watches the sockets, the others answer requests and may block doing
// so. A watcher with a single request at hand answers it itself and leaves the watch to the next,
// which saves the request a thread switch; somebody always watches.
class Workers {
public:
    using Connections = std::vector<std::shared_ptr<Connection>>;
    // Blocks until requests are ready, which it adds, or until somebody wakes it. Never called by
    // two threads at once.
    using Watch = std::function<void(Connections& ready)>;
    // Answers a request. Must not throw.
    using Work = std::function<void(const std::shared_ptr<Connection>&)>;

    // `count` requests are answered at the same time.
    Workers(unsigned count, Watch watch, Work work);
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;
    // After `stop`. Waits for the work in progress; what nobody has begun is dropped.
    ~Workers() = default;

    // Any thread. Whoever watches has to be woken as well.
    void stop();

    [[nodiscard]] static bool is_worker_thread();

private:
    using Lock = std::unique_lock<std::mutex>;

    void run();
    void sleep(Lock& lock);
    void watch(Lock& lock);
    void take_next(Lock& lock);
    void work(Lock& lock, const std::shared_ptr<Connection>& connection);
    // True: the caller has to notify one.
    [[nodiscard]] bool wakes_colleague();

    const Watch watch_;
    const Work work_;
    std::mutex mutex_;
    std::condition_variable wanted_;
    std::deque<std::shared_ptr<Connection>> queue_;
    std::size_t sleeping_ = 0;
    bool waking_ = false;
    bool watched_ = false;
    bool stopped_ = false;
    std::vector<std::jthread> threads_;
};

}  // namespace net
