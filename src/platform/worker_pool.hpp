#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "ports/executor.hpp"

namespace platform {

// Threads for outside work, and one that hands tasks over when they are due. The destructor waits
// for the tasks that run and drops those that wait; what they hand in meanwhile is dropped too.
class WorkerPool : public ports::Executor {
public:
    // At least one worker.
    explicit WorkerPool(std::size_t workers);
    ~WorkerPool() override;

    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;

    void run(Task task) override;
    // A negative delay counts as none. The delay does not go on while the machine sleeps.
    void run_after(domain::Milliseconds delay, Task task) override;

private:
    using Due = std::pair<std::chrono::steady_clock::time_point, std::uint64_t>;

    void work(const std::stop_token& stop);
    void hand_over_due(const std::stop_token& stop);

    std::mutex mutex_;  // guards everything up to the threads
    std::condition_variable_any ready_;
    std::condition_variable_any timer_;
    std::deque<Task> tasks_;
    std::map<Due, Task> waiting_;
    std::uint64_t next_ = 0;
    bool stopping_ = false;

    std::vector<std::jthread> threads_;
};

}  // namespace platform
