#include "api/active_tree.hpp"

#include <chrono>
#include <utility>
#include <variant>

#include "api/match.hpp"

namespace api {

namespace {

constexpr domain::Nanoseconds fresh_time = std::chrono::seconds(1);
constexpr std::string_view stage = "stage=tree_status";

}  // namespace

ActiveTree::ActiveTree(engine::CommitmentTrees* trees, Lookups& lookups, engine::Journal& journal,
                       const engine::Clock& clock)
    : trees_(trees),
      lookups_(lookups),
      clock_(clock),
      trouble_("tree_status_failed", journal, clock) {}

void ActiveTree::ask(Told told) {
    if (trees_ == nullptr) {
        told({});
        return;
    }
    std::optional<Reading> answer;
    bool is_first = false;
    {
        const domain::Monotonic now = clock_.monotonic();
        const std::lock_guard lock(mutex_);
        answer = known(now);
        if (!answer) {
            waiting_.push_back(std::move(told));
            is_first = !reading_since_;
            if (is_first) reading_since_ = now;
        }
    }
    if (answer) {
        told(*answer);
    } else if (is_first && !lookups_.start([this] { read(); })) {
        keep({});
    }
}

std::optional<ActiveTree::Reading> ActiveTree::known(domain::Monotonic now) const {
    if (last_at_ && now - *last_at_ < fresh_time) return last_;
    if (reading_since_ && now - *reading_since_ >= fresh_time) return Reading{};
    return {};
}

void ActiveTree::read() {
    Reading reading;
    try {
        reading = read_tree();
    } catch (...) {
        trouble_.note(stage, reason_of_current_exception());
    }
    keep(reading);
}

ActiveTree::Reading ActiveTree::read_tree() {
    return std::visit(Match{[](const engine::TreeStatus& status) -> Reading { return status; },
                            [](const engine::UnknownRound&) -> Reading { return {}; },
                            [&](const engine::Unreachable& unreachable) -> Reading {
                                trouble_.note(stage, unreachable.reason);
                                return {};
                            }},
                      trees_->active_status());
}

void ActiveTree::keep(const Reading& reading) {
    std::vector<Told> waiting;
    {
        const domain::Monotonic now = clock_.monotonic();
        const std::lock_guard lock(mutex_);
        last_ = reading;
        last_at_ = now;
        reading_since_.reset();
        waiting.swap(waiting_);
    }
    for (const Told& told : waiting) told(reading);
}

}  // namespace api
