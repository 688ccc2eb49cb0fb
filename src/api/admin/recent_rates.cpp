#include "api/admin/recent_rates.hpp"

#include <chrono>

namespace api::admin {

using domain::Status;

RecentRates::RecentRates(const ports::Clock& clock, bool with_shares)
    : clock_(clock), with_shares_(with_shares) {}

void RecentRates::stepped(const engine::StepFacts& facts) {
    if (facts.changes.empty()) return;
    const std::int64_t number = number_now();
    const std::lock_guard lock(mutex_);
    Slot& slot = slots_.at(static_cast<std::size_t>(number) % slots_.size());
    if (slot.number != number) slot = {number, {}};
    for (const store::Change& change : facts.changes) {
        if (change.kind == domain::Kind::share && !with_shares_) continue;
        if (!change.from) ++slot.counts.accepted;
        if (!change.from || !change.to) continue;
        if (*change.to == Status::completed) ++slot.counts.completed;
        if (*change.to == Status::failure) ++slot.counts.failed;
        if (*change.to == Status::timed_out) ++slot.counts.timed_out;
    }
}

std::int64_t RecentRates::number_now() const {
    using TenSeconds = std::chrono::duration<std::int64_t, std::ratio<10>>;
    return std::chrono::floor<TenSeconds>(clock_.monotonic().time_since_epoch()).count();
}

RecentRates::Counts RecentRates::last(std::int64_t slots) const {
    const std::int64_t number = number_now();
    return between(number - slots + 1, number + 1);
}

RecentRates::Counts RecentRates::between(std::int64_t first, std::int64_t end) const {
    Counts sum;
    const std::lock_guard lock(mutex_);
    for (const Slot& slot : slots_) {
        if (slot.number < 0 || slot.number < first || slot.number >= end) continue;
        sum.accepted += slot.counts.accepted;
        sum.completed += slot.counts.completed;
        sum.failed += slot.counts.failed;
        sum.timed_out += slot.counts.timed_out;
    }
    return sum;
}

std::vector<RecentRates::Counts> RecentRates::minutes() const {
    const std::int64_t end = number_now() + 1;
    std::vector<Counts> all;
    for (std::int64_t left = slots_per_hour; left > 0; left -= slots_per_minute) {
        all.push_back(between(end - left, end - left + slots_per_minute));
    }
    return all;
}

}  // namespace api::admin
