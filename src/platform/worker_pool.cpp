#include "platform/worker_pool.hpp"

#include <algorithm>
#include <cassert>

namespace platform {
namespace {

// Far enough to mean never, near enough not to overflow a time point.
constexpr domain::Milliseconds delay_max = std::chrono::hours{24 * 365 * 20};

}  // namespace

WorkerPool::WorkerPool(std::size_t workers) {
    assert(workers >= 1);
    threads_.reserve(workers + 1);
    for (std::size_t i = 0; i < workers; ++i) {
        threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
    }
    threads_.emplace_back([this](const std::stop_token& stop) { hand_over_due(stop); });
}

WorkerPool::~WorkerPool() {
    {
        // Their destructors may hand in tasks: not under the lock.
        std::deque<Task> dropped;
        std::map<Due, Task> dropped_later;
        const std::lock_guard lock{mutex_};
        stopping_ = true;
        dropped.swap(tasks_);
        dropped_later.swap(waiting_);
    }
    for (std::jthread& thread : threads_) thread.request_stop();
    threads_.clear();
}

void WorkerPool::run(Task task) {
    {
        const std::lock_guard lock{mutex_};
        if (stopping_) return;
        tasks_.push_back(std::move(task));
    }
    ready_.notify_one();
}

void WorkerPool::run_after(domain::Milliseconds delay, Task task) {
    const auto due =
        std::chrono::steady_clock::now() + std::clamp(delay, domain::Milliseconds{0}, delay_max);
    bool earliest = false;
    {
        const std::lock_guard lock{mutex_};
        if (stopping_) return;
        const auto place = waiting_.emplace(Due{due, next_++}, std::move(task)).first;
        earliest = place == waiting_.begin();
    }
    if (earliest) timer_.notify_one();
}

void WorkerPool::work(const std::stop_token& stop) {
    std::unique_lock lock{mutex_};
    while (ready_.wait(lock, stop, [this] { return !tasks_.empty(); })) {
        Task task = std::move(tasks_.front());
        tasks_.pop_front();
        lock.unlock();
        task();
        task = nullptr;  // what it holds goes before the next one is waited for
        lock.lock();
    }
}

void WorkerPool::hand_over_due(const std::stop_token& stop) {
    std::unique_lock lock{mutex_};
    while (!stop.stop_requested()) {
        if (waiting_.empty()) {
            timer_.wait(lock, stop, [this] { return !waiting_.empty(); });
            continue;
        }
        const auto due = waiting_.begin()->first.first;
        const auto sooner = [this, due] {
            return !waiting_.empty() && waiting_.begin()->first.first < due;
        };
        if (std::chrono::steady_clock::now() < due) {
            timer_.wait_until(lock, stop, due, sooner);
            continue;
        }
        tasks_.push_back(std::move(waiting_.begin()->second));
        waiting_.erase(waiting_.begin());
        ready_.notify_one();
    }
}

}  // namespace platform
