#include "engine/task_group.hpp"

#include <mutex>
#include <utility>

namespace engine {

TaskGroup::TaskGroup(ports::Executor& executor)
    : executor_(executor), lifetime_(std::make_shared<Lifetime>()) {}

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

ports::Executor::Task TaskGroup::guarded(Task task) const {
    return [lifetime = lifetime_, task = std::move(task)] {
        const std::shared_lock lock{lifetime->running};
        if (lifetime->open) task();
    };
}

void TaskGroup::stop() {
    // First, so that a stream of new tasks can not keep the lock away from us.
    lifetime_->open = false;
    const std::unique_lock lock{lifetime_->running};
}

}  // namespace engine
