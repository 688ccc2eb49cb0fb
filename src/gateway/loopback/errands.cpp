#include "gateway/loopback/errands.hpp"

#include <mutex>
#include <utility>

namespace gateway::loopback {

Errands::Errands(engine::Executor& executor)
    : executor_(executor), door_(std::make_shared<Door>()) {}

Errands::~Errands() {
    stop();
}

void Errands::after(domain::Milliseconds delay, engine::Executor::Task task) {
    auto errand = [door = door_, task = std::move(task)] {
        const std::shared_lock lock{door->running};
        if (door->open) task();
    };
    if (delay > domain::Milliseconds{0}) {
        executor_.run_after(delay, std::move(errand));
    } else {
        executor_.run(std::move(errand));
    }
}

void Errands::stop() {
    // First, so that a stream of new errands can not keep the lock away from us.
    door_->open = false;
    const std::unique_lock lock{door_->running};
}

}  // namespace gateway::loopback
