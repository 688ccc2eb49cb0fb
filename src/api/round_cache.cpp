#include "api/round_cache.hpp"

#include <algorithm>

namespace api {

std::optional<domain::Timestamp> RoundCache::find(const domain::Bytes32& round_id) const {
    const std::lock_guard lock(mutex_);
    const auto known = vote_ends_.find(round_id);
    if (known == vote_ends_.end()) return {};
    return known->second;
}

domain::Timestamp RoundCache::remember(const domain::Bytes32& round_id,
                                       domain::Timestamp vote_end) {
    const std::lock_guard lock(mutex_);
    const auto [known, added] = vote_ends_.try_emplace(round_id, vote_end);
    const domain::Timestamp counts = known->second;
    if (added && vote_ends_.size() > rounds_max_) {
        vote_ends_.erase(std::min_element(
            vote_ends_.begin(), vote_ends_.end(),
            [](const auto& left, const auto& right) { return left.second < right.second; }));
    }
    return counts;
}

}  // namespace api
