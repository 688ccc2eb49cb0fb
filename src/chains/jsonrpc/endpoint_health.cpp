#include "chains/jsonrpc/endpoint_health.hpp"

#include <algorithm>
#include <chrono>

namespace chains::jsonrpc {
namespace {

constexpr unsigned failures_max = 3;
constexpr std::chrono::seconds avoidance{5};

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

}  // namespace chains::jsonrpc
