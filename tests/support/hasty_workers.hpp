#pragma once

#include <array>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "ports/executor.hpp"

namespace support {

// Two threads that do not wait for due times. What is not begun when it goes never runs. Any
// thread.
class HastyWorkers : public ports::Executor {
public:
    HastyWorkers() {
        for (std::jthread& worker : workers_) worker = std::jthread{[this] { work(); }};
    }
    ~HastyWorkers() override {
        {
            const std::lock_guard lock{mutex_};
            done_ = true;
        }
        changed_.notify_all();
    }
    HastyWorkers(const HastyWorkers&) = delete;
    HastyWorkers& operator=(const HastyWorkers&) = delete;

    void run(Task task) override {
        {
            const std::lock_guard lock{mutex_};
            tasks_.push_back(std::move(task));
        }
        changed_.notify_one();
    }
    void run_after(domain::Milliseconds, Task task) override { run(std::move(task)); }

private:
    void work() {
        for (;;) {
            std::unique_lock lock{mutex_};
            changed_.wait(lock, [this] { return done_ || !tasks_.empty(); });
            if (done_) return;
            const Task task = std::move(tasks_.front());
            tasks_.pop_front();
            lock.unlock();
            task();
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Task> tasks_;
    bool done_ = false;
    std::array<std::jthread, 2> workers_;
};

}  // namespace support
