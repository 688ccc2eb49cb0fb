#include "cluster/lease.hpp"

#include <algorithm>
#include <utility>

namespace cluster {

using domain::Monotonic;
using domain::Nanoseconds;

Lease::Lease(const ports::Clock& clock, const LeaseOptions& options, std::int64_t epoch,
             Monotonic sent)
    : clock_(clock), length_(options.length), epoch_(epoch), until_(sent + options.length) {}

bool Lease::is_held_at(Monotonic now) const {
    return !ended_ && now < until_;
}

bool Lease::is_held() const {
    const std::lock_guard lock{mutex_};
    return is_held_at(clock_.monotonic());
}

Nanoseconds Lease::left() const {
    const std::lock_guard lock{mutex_};
    const Monotonic now = clock_.monotonic();
    return is_held_at(now) ? until_ - now : Nanoseconds::zero();
}

std::int64_t Lease::epoch() const {
    const std::lock_guard lock{mutex_};
    return epoch_;
}

std::optional<std::string> Lease::ended() const {
    const std::lock_guard lock{mutex_};
    return ended_;
}

// Whoever found it over has acted on that: it stays over, although the database still knows us.
bool Lease::prolong(Monotonic sent) {
    if (!is_held_at(clock_.monotonic())) {
        if (!ended_) ended_ = "no renewal was acknowledged in time";
        return false;
    }
    until_ = std::max(until_, sent + length_);
    return true;
}

bool Lease::renewed(Monotonic sent) {
    const std::lock_guard lock{mutex_};
    return prolong(sent);
}

bool Lease::raised(std::int64_t epoch, Monotonic sent) {
    const std::lock_guard lock{mutex_};
    epoch_ = std::max(epoch_, epoch);
    return prolong(sent);
}

void Lease::end(std::string reason) {
    const std::lock_guard lock{mutex_};
    if (!ended_) ended_ = std::move(reason);
}

void LeaseWatch::saw(const Owner& owner, std::uint64_t connection, Monotonic now) {
    const Sight sight{owner.epoch, owner.instance, owner.beat, connection};
    if (seen_ != sight) {
        seen_ = sight;
        first_ = now;
    }
    last_ = now;
}

std::optional<Seen> LeaseWatch::expired() const {
    if (!seen_) return std::nullopt;
    const bool is_free = seen_->instance == Instance{};
    if (!is_free && last_ - first_ < options_.length + options_.margin()) return std::nullopt;
    return Seen{seen_->epoch, seen_->instance, seen_->beat};
}

}  // namespace cluster
