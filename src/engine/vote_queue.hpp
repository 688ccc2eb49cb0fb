#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "domain/bytes.hpp"
#include "engine/inquiry.hpp"

namespace engine {

// The stored shares of one round (share-helper 1.7): total = pending + submitted + failed.
struct RoundQueue {
    domain::Bytes32 round_id{};
    std::uint64_t total = 0;
    std::uint64_t pending = 0;  // waiting or in work
    std::uint64_t submitted = 0;
    std::uint64_t failed = 0;

    bool operator==(const RoundQueue&) const = default;
};
using QueueAnswer = std::variant<std::vector<RoundQueue>, Unreadable>;

// How the shares of each round stand. Any thread; reads only.
class VoteQueue {
public:
    virtual ~VoteQueue() = default;
    [[nodiscard]] virtual QueueAnswer rounds() = 0;
};

}  // namespace engine
