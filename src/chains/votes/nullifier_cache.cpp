#include "chains/votes/nullifier_cache.hpp"

#include <cassert>

namespace chains::votes {

bool NullifierCache::belongs(const domain::Bytes32& round_id, const domain::Bytes32& nullifier,
                             std::int64_t share) {
    const std::lock_guard lock(mutex_);
    const Key key{round_id, nullifier};
    const auto [known, is_new] = shares_.try_emplace(key, share);
    if (!is_new) return known->second == share;
    order_.push_back(key);
    if (order_.size() > nullifiers_max_) {
        shares_.erase(order_.front());
        order_.pop_front();
    }
    assert(order_.size() == shares_.size());
    return true;
}

}  // namespace chains::votes
