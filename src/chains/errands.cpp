#include "chains/errands.hpp"

#include <mutex>
#include <utility>

namespace chains {

Errands::Errands(engine::Executor& executor)
    : executor_(executor), door_(std::make_shared<Door>()) {}

Errands::~Errands() {
    stop();
}

void Errands::run(Task task) {
    executor_.run(guarded(std::move(task)));
}

void Errands::run_after(domain::Milliseconds delay, Task task) {
    if (delay > domain::Milliseconds{0}) {
        executor_.run_after(delay, guarded(std::move(task)));
    } else {
        run(std::move(task));
    }
}

engine::Executor::Task Errands::guarded(Task task) const {
    return [door = door_, task = std::move(task)] {
        const std::shared_lock lock{door->running};
        if (door->open) task();
    };
}

void Errands::stop() {
    // First, so that a stream of new errands can not keep the lock away from us.
    door_->open = false;
    const std::unique_lock lock{door_->running};
}

}  // namespace chains
