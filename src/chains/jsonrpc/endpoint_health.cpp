#include "chains/jsonrpc/endpoint_health.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <limits>

namespace chains::jsonrpc {
namespace {

constexpr unsigned failures_max = 3;
constexpr std::chrono::seconds avoidance{5};
constexpr unsigned throttled_batches_max = 3;
constexpr std::chrono::minutes batches_limited_for{10};

}  // namespace

void EndpointHealth::throttle(domain::Milliseconds wait, domain::Monotonic now) {
    const std::lock_guard lock(mutex_);
    throttled_until_ = std::max(throttled_until_, now + wait);
    failures_ = 0;
}

domain::Milliseconds EndpointHealth::throttled_for(domain::Monotonic now) const {
    const std::lock_guard lock(mutex_);
    if (throttled_until_ <= now) return domain::Milliseconds{0};
    return std::chrono::ceil<domain::Milliseconds>(throttled_until_ - now);
}

void EndpointHealth::note_failure(domain::Monotonic now) {
    const std::lock_guard lock(mutex_);
    if (++failures_ >= failures_max) avoided_until_ = now + avoidance;
}

void EndpointHealth::note_answer() {
    const std::lock_guard lock(mutex_);
    failures_ = 0;
}

bool EndpointHealth::should_avoid(domain::Monotonic now) {
    const std::lock_guard lock(mutex_);
    if (failures_ < failures_max) return false;
    if (now < avoided_until_) return true;
    avoided_until_ = now + avoidance;  // for all but the one who asks
    return false;
}

std::size_t EndpointHealth::batch_max(domain::Monotonic now) const {
    const std::lock_guard lock(mutex_);
    return now < batches_limited_until_ ? batch_max_ : std::numeric_limits<std::size_t>::max();
}

void EndpointHealth::limit_batches(std::size_t calls, domain::Monotonic now) {
    const std::lock_guard lock(mutex_);
    limit_batches_locked(calls, now);
}

void EndpointHealth::limit_batches_locked(std::size_t calls, domain::Monotonic now) {
    assert(calls > 0);
    batch_max_ = calls;
    batches_limited_until_ = now + batches_limited_for;
}

void EndpointHealth::note_batch(std::size_t calls, bool throttled, domain::Monotonic now) {
    const std::lock_guard lock(mutex_);
    throttled_batches_ = throttled ? throttled_batches_ + 1 : 0;
    if (throttled_batches_ >= throttled_batches_max) limit_batches_locked(calls / 2, now);
}

}  // namespace chains::jsonrpc
