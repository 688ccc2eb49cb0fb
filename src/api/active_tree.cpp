#include "api/active_tree.hpp"

#include <chrono>
#include <utility>
#include <variant>

#include "api/overloaded.hpp"

namespace api {

namespace {

constexpr domain::Nanoseconds fresh_time = std::chrono::seconds(1);
constexpr domain::Nanoseconds known_time = std::chrono::seconds(10);
constexpr domain::Nanoseconds interest_time = std::chrono::seconds(60);
constexpr domain::Milliseconds refresh_pause{5'000};
constexpr domain::Milliseconds patience{1'500};
constexpr std::size_t waiting_max = 256;
constexpr std::string_view stage = "stage=tree_status";

}  // namespace

ActiveTree::ActiveTree(engine::CommitmentTrees* trees, Lookups& lookups, ports::Logger& logger,
                       const ports::Clock& clock)
    : trees_(trees),
      lookups_(lookups),
      clock_(clock),
      problem_("tree_status_failed", logger, clock) {}

void ActiveTree::latest(Answer answer) {
    if (trees_ == nullptr) return answer({});
    const domain::Monotonic now = clock_.monotonic();
    bool begins = false;
    bool begins_refreshing = false;
    Reading known;
    std::uint64_t turn = 0;
    {
        const std::lock_guard lock(mutex_);
        asked_at_ = now;
        begins = begins_reading_locked(now);
        begins_refreshing = !std::exchange(refreshing_, true);
        if (is_known_locked(now)) {
            known = last_;
        } else if (reading_ && waiting_.size() < waiting_max) {
            turn = ++turns_;
            waiting_.emplace(turn, answer);
        }
    }
    if (turn == 0) {
        answer(known);
    } else {
        lookups_.start_after(patience, [this, turn] { release(turn); });
    }
    if (begins_refreshing) lookups_.start_after(refresh_pause, [this] { refresh(); });
    if (begins) start_reading();
}

bool ActiveTree::begins_reading_locked(domain::Monotonic now) {
    if (reading_ || (tried_at_ && now - *tried_at_ < fresh_time)) return false;
    reading_ = true;
    return true;
}

bool ActiveTree::is_known_locked(domain::Monotonic now) const {
    return last_at_ && now - *last_at_ <= known_time;
}

void ActiveTree::start_reading() {
    const bool taken = lookups_.start([this] { read(); }, [this] { keep({}); });
    if (!taken) keep({});
}

void ActiveTree::read() {
    std::optional<Reading> reading;
    try {
        reading = read_tree();
    } catch (...) {
        problem_.note(stage, reason_of_current_exception());
    }
    {
        const std::lock_guard lock(mutex_);
        tried_at_ = clock_.monotonic();
    }
    keep(reading);
}

std::optional<ActiveTree::Reading> ActiveTree::read_tree() {
    using Result = std::optional<Reading>;
    return std::visit(
        Overloaded{[](const engine::TreeStatus& status) -> Result { return Reading(status); },
                   [](const engine::UnknownRound&) -> Result { return Reading(); },
                   [&](const engine::Unreachable& unreachable) -> Result {
                       problem_.note(stage, unreachable.reason);
                       return std::nullopt;
                   }},
        trees_->active_status());
}

// Whoever waits has waited for this.
void ActiveTree::keep(const std::optional<Reading>& reading) {
    const domain::Monotonic now = clock_.monotonic();
    Reading known;
    Waiting waiting;
    {
        const std::lock_guard lock(mutex_);
        reading_ = false;
        if (reading) {
            last_ = *reading;
            last_at_ = now;
        }
        if (is_known_locked(now)) known = last_;
        waiting.swap(waiting_);
    }
    for (const auto& [turn, answer] : waiting) answer(known);
}

// The look-up takes too long.
void ActiveTree::release(std::uint64_t turn) {
    Answer answer;
    {
        const std::lock_guard lock(mutex_);
        const auto found = waiting_.find(turn);
        if (found == waiting_.end()) return;
        answer = std::move(found->second);
        waiting_.erase(found);
    }
    answer({});
}

void ActiveTree::refresh() {
    const domain::Monotonic now = clock_.monotonic();
    bool begins = false;
    {
        const std::lock_guard lock(mutex_);
        if (now - asked_at_ > interest_time) {
            refreshing_ = false;
            return;
        }
        begins = begins_reading_locked(now);
    }
    lookups_.start_after(refresh_pause, [this] { refresh(); });
    if (begins) read();
}

}  // namespace api
