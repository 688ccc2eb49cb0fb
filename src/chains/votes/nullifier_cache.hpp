#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <utility>

#include "domain/bytes.hpp"

namespace chains::votes {

// Which share each nullifier was proved for, of the last so many: a prover that answers with that
// of another share would make the chain's "already spent" look like a success. Any thread.
class NullifierCache {
public:
    explicit NullifierCache(std::size_t nullifiers_max) : nullifiers_max_(nullifiers_max) {}

    // False when the nullifier was another share's before. `share`: sequence of its request.
    [[nodiscard]] bool belongs(const domain::Bytes32& round_id, const domain::Bytes32& nullifier,
                               std::int64_t share);

private:
    using Key = std::pair<domain::Bytes32, domain::Bytes32>;

    const std::size_t nullifiers_max_;
    std::mutex mutex_;
    std::map<Key, std::int64_t> shares_;
    std::deque<Key> order_;  // as they came
};

}  // namespace chains::votes
