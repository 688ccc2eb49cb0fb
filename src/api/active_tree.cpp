#include "api/active_tree.hpp"

#include <chrono>
#include <variant>

#include "api/overloaded.hpp"

namespace api {

namespace {

constexpr domain::Nanoseconds fresh_time = std::chrono::seconds(1);
constexpr domain::Nanoseconds known_time = std::chrono::seconds(10);
constexpr std::string_view stage = "stage=tree_status";

}  // namespace

ActiveTree::ActiveTree(engine::CommitmentTrees* trees, Lookups& lookups, ports::Logger& logger,
                       const ports::Clock& clock)
    : trees_(trees),
      lookups_(lookups),
      clock_(clock),
      problem_("tree_status_failed", logger, clock) {}

ActiveTree::Reading ActiveTree::latest() {
    if (trees_ == nullptr) return {};
    if (begins_reading() && !lookups_.start([this] { read(); }, [this] { give_up(); })) give_up();
    const domain::Monotonic now = clock_.monotonic();
    const std::lock_guard lock(mutex_);
    return last_at_ && now - *last_at_ <= known_time ? last_ : Reading{};
}

bool ActiveTree::begins_reading() {
    const domain::Monotonic now = clock_.monotonic();
    const std::lock_guard lock(mutex_);
    if (reading_ || (last_at_ && now - *last_at_ < fresh_time)) return false;
    reading_ = true;
    return true;
}

void ActiveTree::read() {
    Reading reading;
    try {
        reading = read_tree();
    } catch (...) {
        problem_.note(stage, reason_of_current_exception());
    }
    keep(reading);
}

ActiveTree::Reading ActiveTree::read_tree() {
    return std::visit(Overloaded{[](const engine::TreeStatus& status) -> Reading { return status; },
                                 [](const engine::UnknownRound&) -> Reading { return {}; },
                                 [&](const engine::Unreachable& unreachable) -> Reading {
                                     problem_.note(stage, unreachable.reason);
                                     return {};
                                 }},
                      trees_->active_status());
}

void ActiveTree::keep(const Reading& reading) {
    const domain::Monotonic now = clock_.monotonic();
    const std::lock_guard lock(mutex_);
    last_ = reading;
    last_at_ = now;
    reading_ = false;
}

void ActiveTree::give_up() {
    const std::lock_guard lock(mutex_);
    reading_ = false;
}

}  // namespace api
