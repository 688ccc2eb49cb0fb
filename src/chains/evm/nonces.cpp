#include "chains/evm/nonces.hpp"

#include <algorithm>
#include <cassert>

namespace chains::evm {

namespace {

// After which the transaction that was to fill a hole is made again.
constexpr domain::Milliseconds filler_patience{30'000};
// Transactions of somebody else with our key between two looks that surprise nobody.
constexpr std::uint64_t foreign_max = 64;

}  // namespace

void Nonces::restore(const std::vector<engine::Sealed>& in_flight,
                     const std::vector<store::UsedNonce>& used) {
    const std::lock_guard lock{mutex_};
    for (const engine::Sealed& sealed : in_flight) held_.try_emplace(sealed.nonce, 1);
    for (const store::UsedNonce& one : used) {
        held_.try_emplace(one.nonce, 1);
        included_.insert_or_assign(one.nonce, one.block);
    }
}

bool Nonces::known() const {
    const std::lock_guard lock{mutex_};
    return floor_.has_value();
}

std::uint64_t Nonces::take() {
    const std::lock_guard lock{mutex_};
    assert(floor_);
    const std::uint64_t nonce = smallest_free(*floor_);
    assert(nonce >= *floor_ && !held_.contains(nonce));
    ++held_[nonce];
    returned_.erase(nonce);
    taken_.push_back(nonce);
    return nonce;
}

std::optional<std::uint64_t> Nonces::reserve() {
    const std::lock_guard lock{mutex_};
    if (!floor_) return std::nullopt;
    const std::uint64_t nonce = smallest_free(*floor_);
    ++held_[nonce];
    returned_.erase(nonce);
    return nonce;
}

void Nonces::keep() {
    const std::lock_guard lock{mutex_};
    taken_.clear();
}

void Nonces::undo() {
    const std::lock_guard lock{mutex_};
    for (const std::uint64_t nonce : taken_) give_back_locked(nonce);
    taken_.clear();
}

void Nonces::give_back(std::uint64_t nonce) {
    const std::lock_guard lock{mutex_};
    give_back_locked(nonce);
}

void Nonces::give_back_locked(std::uint64_t nonce) {
    const auto entry = held_.find(nonce);
    if (entry == held_.end() || --entry->second > 0) return;
    held_.erase(entry);
    if (held_.upper_bound(nonce) != held_.end()) returned_.insert(nonce);
}

void Nonces::used(std::uint64_t nonce) {
    const std::lock_guard lock{mutex_};
    release_locked(nonce);
    floor_ = std::max(floor_.value_or(0), nonce + 1);
}

void Nonces::included(std::uint64_t nonce, const domain::Block& block) {
    const std::lock_guard lock{mutex_};
    held_.try_emplace(nonce, 1);
    included_.insert_or_assign(nonce, block);
    sent_.erase(nonce);
    floor_ = std::max(floor_.value_or(0), nonce + 1);
}

void Nonces::bury(const domain::Block& block) {
    const std::lock_guard lock{mutex_};
    for (auto next = included_.begin(); next != included_.end();) {
        const auto [nonce, had] = *next++;
        if (had == block) release_locked(nonce);
    }
}

void Nonces::hold(std::uint64_t nonce) {
    const std::lock_guard lock{mutex_};
    held_.try_emplace(nonce, 1);
    included_.erase(nonce);
}

void Nonces::release(std::uint64_t nonce) {
    const std::lock_guard lock{mutex_};
    release_locked(nonce);
}

void Nonces::release_locked(std::uint64_t nonce) {
    held_.erase(nonce);
    included_.erase(nonce);
    sent_.erase(nonce);
}

bool Nonces::may_send(std::uint64_t nonce) const {
    const std::lock_guard lock{mutex_};
    const auto returned = smallest_returned_locked();
    if (returned && *returned < nonce) return false;
    for (auto entry = held_.lower_bound(floor_.value_or(0));
         entry != held_.end() && entry->first < nonce; ++entry) {
        if (one_at_a_time_ || !sent_.contains(entry->first)) return false;
    }
    return true;
}

void Nonces::one_at_a_time(bool on) {
    const std::lock_guard lock{mutex_};
    one_at_a_time_ = on;
}

bool Nonces::one_at_a_time() const {
    const std::lock_guard lock{mutex_};
    return one_at_a_time_;
}

bool Nonces::has_larger(std::uint64_t nonce) const {
    const std::lock_guard lock{mutex_};
    return held_.upper_bound(nonce) != held_.end();
}

bool Nonces::has_smaller(std::uint64_t nonce) const {
    const std::lock_guard lock{mutex_};
    return held_.lower_bound(nonce) != held_.begin();
}

void Nonces::mark_sent(std::uint64_t nonce) {
    const std::lock_guard lock{mutex_};
    sent_.insert(nonce);
}

void Nonces::mark_unsent(std::uint64_t nonce) {
    const std::lock_guard lock{mutex_};
    sent_.erase(nonce);
}

bool Nonces::observe(std::uint64_t count, domain::Monotonic now) {
    const std::lock_guard lock{mutex_};
    fillers_.erase(fillers_.begin(), fillers_.lower_bound(count));
    if (floor_ && count < *floor_) {
        leap_.reset();
        if (!rewind_) rewind_ = Suspicion{count};
        rewind_->count = std::max(rewind_->count, count);
        assert(rewind_->count < *floor_);
        if (!rewind_->heard.observe(now)) return false;
        floor_ = rewind_->count;
        sent_.clear();
        rewind_.reset();
        return true;
    }
    rewind_.reset();
    const std::uint64_t next = held_.empty() ? 0 : held_.rbegin()->first + 1;
    if (floor_ && count > std::max(*floor_, next) + foreign_max) {
        if (!leap_) leap_ = Suspicion{count};
        leap_->count = std::min(leap_->count, count);
        if (!leap_->heard.observe(now)) return false;
        count = leap_->count;
    }
    leap_.reset();
    floor_ = count;
    return false;
}

Nonces::Holes Nonces::take_holes(std::uint64_t count, std::size_t max, domain::Monotonic now,
                                 std::optional<std::uint64_t> below) {
    const std::lock_guard lock{mutex_};
    Holes holes;
    if (held_.empty()) return holes;
    if (now - fillers_since_ >= filler_patience) fillers_.clear();
    if (!fillers_.empty()) return holes;
    std::uint64_t hole = std::max(count, floor_.value_or(0));
    for (auto held = held_.lower_bound(hole); held != held_.end(); hole = (held++)->first + 1) {
        assert(hole <= held->first);
        const bool is_wanted = !below || hole < *below;
        for (; is_wanted && hole < held->first && holes.nonces.size() < max; ++hole) {
            holes.nonces.push_back(hole);
        }
        holes.left += held->first - hole;
    }
    fillers_.insert(holes.nonces.begin(), holes.nonces.end());
    fillers_since_ = now;
    return holes;
}

bool Nonces::has_returned() const {
    const std::lock_guard lock{mutex_};
    const auto returned = smallest_returned_locked();
    return returned && held_.upper_bound(*returned) != held_.end();
}

std::optional<std::uint64_t> Nonces::smallest_returned_locked() const {
    const auto returned = returned_.lower_bound(floor_.value_or(0));
    return returned == returned_.end() ? std::nullopt : std::optional{*returned};
}

void Nonces::give_hole_back(std::uint64_t nonce) {
    const std::lock_guard lock{mutex_};
    fillers_.erase(nonce);
}

bool Nonces::hold_hole(std::uint64_t nonce) {
    const std::lock_guard lock{mutex_};
    if (!fillers_.contains(nonce) || !held_.try_emplace(nonce, 1).second) return false;
    sent_.erase(nonce);
    returned_.erase(nonce);
    return true;
}

std::optional<std::uint64_t> Nonces::next() const {
    const std::lock_guard lock{mutex_};
    if (!floor_) return std::nullopt;
    return smallest_free(*floor_);
}

std::optional<std::uint64_t> Nonces::distance(std::optional<std::uint64_t> count) const {
    const std::lock_guard lock{mutex_};
    if (!floor_) return std::nullopt;
    const std::uint64_t next = smallest_free(*floor_);
    assert(next >= *floor_);
    return next - std::min(next, std::max(*floor_, count.value_or(0)));
}

std::size_t Nonces::held() const {
    const std::lock_guard lock{mutex_};
    return held_.size() - included_.size();
}

std::uint64_t Nonces::smallest_free(std::uint64_t from) const {
    while (held_.contains(from) || fillers_.contains(from)) ++from;
    return from;
}

}  // namespace chains::evm
