#include "api/workers.hpp"

#include <iterator>
#include <utility>

namespace api {

namespace {

thread_local bool on_worker_thread = false;

}  // namespace

bool Workers::is_worker_thread() {
    return on_worker_thread;
}

Workers::Workers(unsigned count, Work work) : work_(std::move(work)) {
    threads_.reserve(count);
    for (unsigned index = 0; index < count; ++index) threads_.emplace_back([this] { run(); });
}

Workers::~Workers() {
    {
        const std::lock_guard lock(mutex_);
        stopped_ = true;
    }
    arrival_.notify_all();
}

void Workers::push(std::vector<std::shared_ptr<Connection>>& connections) {
    bool wake = false;
    {
        const std::lock_guard lock(mutex_);
        std::move(connections.begin(), connections.end(), std::back_inserter(queue_));
        wake = sleeping_ > 0 && !std::exchange(waking_, true);
    }
    connections.clear();
    if (wake) arrival_.notify_one();
}

void Workers::run() {
    on_worker_thread = true;
    std::unique_lock lock(mutex_);
    for (;;) {
        while (queue_.empty() && !stopped_) {
            ++sleeping_;
            arrival_.wait(lock);
            --sleeping_;
            waking_ = false;  // also when somebody else was quicker and there is nothing left
        }
        if (stopped_) return;
        const auto connection = std::move(queue_.front());
        queue_.pop_front();
        // One worker wakes the next while there is work left: as many run as are needed, and
        // short work is not paid for with a thread switch each.
        const bool wake = !queue_.empty() && sleeping_ > 0 && !std::exchange(waking_, true);
        lock.unlock();
        if (wake) arrival_.notify_one();
        work_(connection);
        lock.lock();
    }
}

}  // namespace api
