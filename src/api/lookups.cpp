#include "api/lookups.hpp"

#include <chrono>
#include <mutex>
#include <utility>

namespace api {

namespace {

constexpr domain::Nanoseconds waiting_max = std::chrono::seconds(10);

}  // namespace

Lookups::Lookups(engine::Executor& executor, const engine::Clock& clock, std::size_t pending_max)
    : executor_(executor),
      clock_(clock),
      pending_max_(pending_max),
      door_(std::make_shared<Door>()) {}

Lookups::~Lookups() {
    // First, so that a stream of new work can not keep the lock away from us.
    door_->open = false;
    const std::unique_lock lock{door_->running};
}

bool Lookups::start(std::function<void()> work, std::function<void()> too_late) {
    if (door_->pending.fetch_add(1) >= pending_max_) {
        --door_->pending;
        return false;
    }
    executor_.run([door = door_, &clock = clock_, since = clock_.monotonic(),
                   work = std::move(work), too_late = std::move(too_late)] {
        const std::shared_lock lock{door->running};
        if (door->open) (clock.monotonic() - since > waiting_max ? too_late : work)();
        --door->pending;
    });
    return true;
}

}  // namespace api
