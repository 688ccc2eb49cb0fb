#include "net/workers.hpp"

#include <iterator>
#include <utility>

namespace net {

namespace {

thread_local bool on_worker_thread = false;

}  // namespace

bool Workers::is_worker_thread() {
    return on_worker_thread;
}

Workers::Workers(unsigned count, Watch watch, Work work)
    : watch_(std::move(watch)), work_(std::move(work)) {
    const unsigned threads = count + 1;
    threads_.reserve(threads);
    for (unsigned index = 0; index < threads; ++index) threads_.emplace_back([this] { run(); });
}

void Workers::stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    wanted_.notify_all();
}

void Workers::run() {
    on_worker_thread = true;
    Lock lock(mutex_);
    while (!stopped_) {
        if (!queue_.empty()) {
            take_next(lock);
        } else if (!watched_) {
            watch(lock);
        } else {
            sleep(lock);
        }
    }
}

void Workers::sleep(Lock& lock) {
    ++sleeping_;
    wanted_.wait(lock);
    --sleeping_;
    waking_ = false;  // also when somebody else was quicker and there is nothing left to do
}

void Workers::watch(Lock& lock) {
    watched_ = true;
    Connections ready;
    while (!stopped_) {
        lock.unlock();
        watch_(ready);
        lock.lock();
        if (ready.size() == 1 && queue_.empty() && sleeping_ > 0) {
            watched_ = false;
            return work(lock, ready.front());
        }
        std::move(ready.begin(), ready.end(), std::back_inserter(queue_));
        ready.clear();
        if (wakes_colleague()) wanted_.notify_one();
    }
}

// One wakes the next while something is left to do: as many run as are needed, and short work is
// not paid for with a thread switch each.
bool Workers::wakes_colleague() {
    const bool wanted = !queue_.empty() || !watched_;
    return wanted && sleeping_ > 0 && !std::exchange(waking_, true);
}

void Workers::take_next(Lock& lock) {
    const auto connection = std::move(queue_.front());
    queue_.pop_front();
    work(lock, connection);
}

void Workers::work(Lock& lock, const std::shared_ptr<Connection>& connection) {
    const bool wake = wakes_colleague();
    lock.unlock();
    if (wake) wanted_.notify_one();
    work_(connection);
    lock.lock();
}

}  // namespace net
