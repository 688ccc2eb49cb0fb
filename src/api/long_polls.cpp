#include "api/long_polls.hpp"

#include <utility>

#include "domain/status.hpp"

namespace api {

LongPolls::LongPolls(const ports::Clock& clock, std::size_t waiting_max)
    : clock_(clock), waiting_max_(waiting_max) {}

std::optional<LongPolls::Ticket> LongPolls::wait(std::int64_t sequence, domain::Milliseconds wait,
                                                 std::function<void()> done) {
    const domain::Monotonic end = clock_.monotonic() + wait;
    Ticket ticket = 0;
    {
        const std::lock_guard lock(mutex_);
        if (stopped_ || waiters_.size() >= waiting_max_) {
            turned_away_.fetch_add(1, std::memory_order_relaxed);
            return {};
        }
        ticket = next_++;
        waiters_.emplace(ticket, Waiter{sequence, end, std::move(done)});
        by_sequence_.emplace(sequence, ticket);
        const auto place = by_end_.emplace(end, ticket).first;
        look_again_ = look_again_ || place == by_end_.begin();
        count_.store(waiters_.size());
    }
    changed_.notify_one();
    return ticket;
}

bool LongPolls::withdraw(Ticket ticket) {
    const std::lock_guard lock(mutex_);
    const auto waiter = waiters_.find(ticket);
    if (waiter == waiters_.end()) return false;
    finish(waiter);
    done_.pop_back();
    return true;
}

void LongPolls::finish_early(Ticket ticket) {
    {
        const std::lock_guard lock(mutex_);
        const auto waiter = waiters_.find(ticket);
        if (waiter == waiters_.end()) return;
        finish(waiter);
        look_again_ = true;
    }
    changed_.notify_one();
}

void LongPolls::stepped(const engine::StepFacts& facts) {
    if (count_.load() == 0) return;
    bool found = false;
    {
        const std::lock_guard lock(mutex_);
        for (const store::Change& change : facts.changes) {
            if (!change.to || !domain::is_terminal(*change.to)) continue;
            for (auto entry = by_sequence_.lower_bound({change.sequence, 0});
                 entry != by_sequence_.end() && entry->first == change.sequence;) {
                finish(waiters_.find((entry++)->second));
                found = look_again_ = true;
            }
        }
    }
    if (found) changed_.notify_one();
}

// Under the lock.
void LongPolls::finish(Waiters::iterator waiter) {
    const auto& [ticket, facts] = *waiter;
    by_sequence_.erase({facts.sequence, ticket});
    by_end_.erase({facts.end, ticket});
    done_.push_back(std::move(waiter->second.done));
    waiters_.erase(waiter);
    count_.store(waiters_.size());
}

std::optional<domain::Nanoseconds> LongPolls::turn() {
    const domain::Monotonic now = clock_.monotonic();
    std::vector<std::function<void()>> done;
    std::optional<domain::Nanoseconds> next;
    {
        const std::lock_guard lock(mutex_);
        while (!by_end_.empty() && (stopped_ || by_end_.begin()->first <= now)) {
            finish(waiters_.find(by_end_.begin()->second));
        }
        done.swap(done_);
        look_again_ = false;
        if (!by_end_.empty()) next = by_end_.begin()->first - now;
    }
    for (const auto& answer : done) answer();
    return next;
}

void LongPolls::run() {
    for (;;) {
        const std::optional<domain::Nanoseconds> next = turn();
        std::unique_lock lock(mutex_);
        if (stopped_ && waiters_.empty() && done_.empty()) return;
        const auto changed = [&] { return look_again_ || stopped_; };
        if (next) {
            changed_.wait_for(lock, *next, changed);
        } else {
            changed_.wait(lock, changed);
        }
    }
}

void LongPolls::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopped_ = true;
    }
    changed_.notify_one();
}

}  // namespace api
