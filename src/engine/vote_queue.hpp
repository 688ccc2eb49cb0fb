#pragma once

#include <variant>
#include <vector>

#include "engine/request_reader.hpp"
#include "store/reader.hpp"

namespace engine {

using QueueAnswer = std::variant<std::vector<store::RoundCounts>, Unreadable>;

// How the shares of each round stand (share-helper 1.7). Any thread; reads only.
class VoteQueue {
public:
    virtual ~VoteQueue() = default;
    [[nodiscard]] virtual QueueAnswer rounds() = 0;
};

}  // namespace engine
