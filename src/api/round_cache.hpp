#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>

#include "domain/bytes.hpp"
#include "domain/time.hpp"

namespace api {

// The vote rounds seen so far and when they end (share-helper 1.2). Bounded: the round that ends
// first makes room. The first end time of a round stays. Any thread.
class RoundCache {
public:
    explicit RoundCache(std::size_t rounds_max) : rounds_max_(rounds_max) {}

    [[nodiscard]] std::optional<domain::Timestamp> find(const domain::Bytes32& round_id) const;

    // Answers the end time that counts from now on.
    domain::Timestamp remember(const domain::Bytes32& round_id, domain::Timestamp vote_end);

private:
    const std::size_t rounds_max_;
    mutable std::mutex mutex_;
    std::map<domain::Bytes32, domain::Timestamp> vote_ends_;
};

}  // namespace api
