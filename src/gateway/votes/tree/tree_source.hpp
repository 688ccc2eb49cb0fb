#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "domain/bytes.hpp"
#include "engine/gateway.hpp"

namespace gateway::votes {

// A round's commitment tree as the chain last stored it.
struct LatestTree {
    std::uint64_t next_index = 0;  // as many leaves as there are
    domain::Bytes32 root{};        // zero when the chain names none
    std::uint64_t height = 0;      // the newest with a stored root; 0: none
};

// What one block appended.
struct BlockLeaves {
    std::uint64_t height = 0;
    std::uint64_t start_index = 0;  // of the first leaf
    std::vector<domain::Bytes32> leaves;
};

// Port: the leaves of commitment trees, from which paths are built. Any thread; blocks.
class TreeSource {
public:
    virtual ~TreeSource() = default;
    [[nodiscard]] virtual std::variant<LatestTree, engine::UnknownRound, engine::Unreachable>
    latest(const domain::Bytes32& round_id) = 0;
    // Of the blocks from one height to the other, both included, in the order of the chain; blocks
    // without leaves are left out.
    [[nodiscard]] virtual std::variant<std::vector<BlockLeaves>, engine::Unreachable> leaves(
        const domain::Bytes32& round_id, std::uint64_t from_height, std::uint64_t to_height) = 0;
};

}  // namespace gateway::votes
