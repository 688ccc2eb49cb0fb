#include "api/lookups.hpp"

#include <mutex>
#include <utility>

namespace api {

Lookups::Lookups(engine::Executor& executor, std::size_t pending_max)
    : executor_(executor), pending_max_(pending_max), door_(std::make_shared<Door>()) {}

Lookups::~Lookups() {
    // First, so that a stream of new work can not keep the lock away from us.
    door_->open = false;
    const std::unique_lock lock{door_->running};
}

bool Lookups::start(std::function<void()> work) {
    if (door_->pending.fetch_add(1) >= pending_max_) {
        --door_->pending;
        return false;
    }
    executor_.run([door = door_, work = std::move(work)] {
        const std::shared_lock lock{door->running};
        if (door->open) work();
        --door->pending;
    });
    return true;
}

}  // namespace api
