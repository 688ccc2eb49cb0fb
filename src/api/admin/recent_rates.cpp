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
    return last_by_part(slots, 1).front();
}

std::vector<RecentRates::Counts> RecentRates::minutes() const {
    return last_by_part(slots_per_hour, slots_per_hour / slots_per_minute);
}

std::vector<RecentRates::Counts> RecentRates::last_by_part(std::int64_t slots,
                                                           std::int64_t parts) const {
    const std::int64_t first = number_now() + 1 - slots;
    std::vector<Counts> sums(static_cast<std::size_t>(parts));
    const std::lock_guard lock(mutex_);
    for (const Slot& slot : slots_) {
        const std::int64_t place = slot.number - first;
        if (slot.number < 0 || place < 0 || place >= slots) continue;
        Counts& sum = sums.at(static_cast<std::size_t>(place * parts / slots));
        sum.accepted += slot.counts.accepted;
        sum.completed += slot.counts.completed;
        sum.failed += slot.counts.failed;
        sum.timed_out += slot.counts.timed_out;
    }
    return sums;
}

}  // namespace api::admin
