#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "domain/bytes.hpp"
#include "domain/time.hpp"
#include "engine/gateway.hpp"

namespace chains::votes::tree {

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

// A question for the leaves of the blocks from one height to the other, both included.
struct LeavesQuery {
    std::uint64_t from_height = 0;
    std::uint64_t to_height = 0;
    std::uint64_t leaves_enough = 0;  // stop soon after more than these came
    domain::Monotonic deadline{};     // end by then
};

// The answer, or the first part of it: where it was enough, where time was up or where the source
// failed after it.
struct LeavesRead {
    std::vector<BlockLeaves> blocks;  // in the order of the chain, none without leaves
    std::uint64_t to_height = 0;      // up to it nothing is missing; never below the first asked
};

// Port: the leaves of commitment trees, from which paths are built. Any thread; blocks.
class TreeSource {
public:
    virtual ~TreeSource() = default;
    [[nodiscard]] virtual std::variant<LatestTree, engine::UnknownRound, engine::Unreachable>
    latest(const domain::Bytes32& round_id) = 0;
    // Unreachable only when not one block could be read.
    [[nodiscard]] virtual std::variant<LeavesRead, engine::Unreachable> leaves(
        const domain::Bytes32& round_id, const LeavesQuery& query) = 0;
};

}  // namespace chains::votes::tree
