#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace api::metrics {

// A fixed number of places, each filled when it is first asked for; afterwards it costs one load.
// Any thread.
template <typename Value>
class Slots {
public:
    using Make = std::function<Value(std::size_t index)>;

    Slots(std::size_t size, Make make) : make_(std::move(make)), places_(size) {}

    [[nodiscard]] const Value& operator[](std::size_t index) {
        std::atomic<const Value*>& place = places_[index];
        if (const Value* value = place.load(std::memory_order_acquire)) return *value;
        const std::lock_guard lock(mutex_);
        if (const Value* value = place.load(std::memory_order_relaxed)) return *value;
        const Value& value = values_.emplace_back(make_(index));
        place.store(&value, std::memory_order_release);
        return value;
    }

private:
    const Make make_;
    std::vector<std::atomic<const Value*>> places_;
    std::mutex mutex_;  // guards values_
    std::deque<Value> values_;
};

}  // namespace api::metrics
