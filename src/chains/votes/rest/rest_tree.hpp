#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "chains/votes/rest/rest_reply.hpp"
#include "chains/votes/tree/tree_source.hpp"
#include "domain/bytes.hpp"
#include "engine/gateway.hpp"

// What the chain says of a round's commitment tree.
namespace chains::votes::rest {

[[nodiscard]] std::variant<tree::LatestTree, engine::UnknownRound, engine::Unreachable>
read_latest_tree(const RestReply& reply);

// A page of the answer to a question for leaves.
struct LeavesPage {
    std::vector<tree::BlockLeaves> blocks;  // ascending, within the heights that were asked for
    std::uint64_t next_from_height = 0;     // where the next page begins; 0: this was the last
};

[[nodiscard]] std::variant<LeavesPage, engine::Unreachable> read_leaves(const RestReply& reply,
                                                                        std::uint64_t from_height,
                                                                        std::uint64_t to_height);

}  // namespace chains::votes::rest
