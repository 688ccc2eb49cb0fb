#include "engine/task_group.hpp"

#include <mutex>
#include <utility>

namespace engine {

TaskGroup::TaskGroup(Executor& executor)
    : executor_(executor), door_(std::make_shared<Door>()) {}

TaskGroup::~TaskGroup() {
    stop();
}

void TaskGroup::run(Task task) {
    executor_.run(guarded(std::move(task)));
}

void TaskGroup::run_after(domain::Milliseconds delay, Task task) {
    if (delay > domain::Milliseconds{0}) {
        executor_.run_after(delay, guarded(std::move(task)));
    } else {
        run(std::move(task));
    }
}

Executor::Task TaskGroup::guarded(Task task) const {
    return [door = door_, task = std::move(task)] {
        const std::shared_lock lock{door->running};
        if (door->open) task();
    };
}

void TaskGroup::stop() {
    // First, so that a stream of new tasks can not keep the lock away from us.
    door_->open = false;
    const std::unique_lock lock{door_->running};
}

}  // namespace engine
