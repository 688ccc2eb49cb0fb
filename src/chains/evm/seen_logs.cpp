#include "chains/evm/seen_logs.hpp"

#include <algorithm>

namespace chains::evm {

SeenLogs::SeenLogs(const ports::Clock& clock, domain::Milliseconds time_to_live,
                   std::size_t capacity)
    : clock_(clock), time_to_live_(time_to_live), capacity_(std::max<std::size_t>(capacity, 1)) {}

bool SeenLogs::has(const Log& log) const {
    const domain::Monotonic now = clock_.monotonic();
    const std::lock_guard lock{mutex_};
    const auto found = marked_.find({log.block_hash, log.index});
    return found != marked_.end() && now - found->second <= time_to_live_;
}

void SeenLogs::mark(const Log& log) {
    const domain::Monotonic now = clock_.monotonic();
    const std::lock_guard lock{mutex_};
    forget_old_locked(now);
    const Key key{log.block_hash, log.index};
    if (!marked_.emplace(key, now).second) return;
    order_.emplace_back(now, key);
    if (order_.size() <= capacity_) return;
    marked_.erase(order_.front().second);
    order_.pop_front();
}

std::size_t SeenLogs::size() const {
    const std::lock_guard lock{mutex_};
    return marked_.size();
}

void SeenLogs::forget_old_locked(domain::Monotonic now) {
    while (!order_.empty() && now - order_.front().first > time_to_live_) {
        marked_.erase(order_.front().second);
        order_.pop_front();
    }
}

}  // namespace chains::evm
