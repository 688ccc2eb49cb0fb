#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <variant>
#include <vector>

#include "chains/votes/reveal.hpp"
#include "chains/votes/tree/tree_copy.hpp"
#include "chains/votes/tree/tree_source.hpp"
#include "domain/bytes.hpp"
#include "domain/time.hpp"
#include "engine/vote_chain.hpp"
#include "ports/clock.hpp"

namespace chains::votes::tree {

struct RoundTreesOptions {
    std::size_t rounds_max = 8;            // copies kept; the one unused for longest goes
    domain::Milliseconds wait_max{2'000};  // for a copy in use, in real time as sockets wait
    TreeCopyOptions copy;
};

// The commitment trees of the rounds: what the chain has no call for (single leaves, paths) comes
// from copies kept here. Any thread. Callers of one round wait for each other while its copy grows,
// but not for long: they get Unreachable. Those of other rounds do not wait.
class RoundTrees : public engine::CommitmentTrees {
public:
    using ActiveRound = std::variant<domain::Bytes32, engine::UnknownRound, engine::Unreachable>;

    // `active_round` asks the chain which round is active; any thread, may block.
    RoundTrees(TreeSource& source, const ports::Clock& clock,
               std::function<ActiveRound()> active_round, const RoundTreesOptions& options = {});
    ~RoundTrees() override;

    // Asks the chain each time, and remembers the answer's root for path(). Never waits for a copy
    // that is growing.
    [[nodiscard]] engine::TreeStatusAnswer status(const domain::Bytes32& round_id) override;
    [[nodiscard]] engine::TreeStatusAnswer active_status() override;

    // NoLeaf also for rounds the chain does not know. The chain is asked only for positions beyond
    // the leaves that a root confirmed before; so after a chain was reset, the leaves are the old
    // ones until a later position or a path is asked for.
    [[nodiscard]] engine::LeafAnswer leaf(const domain::Bytes32& round_id,
                                          std::uint64_t position) override;

    // In the tree as it was at the anchor, a height that status() named or the chain has passed.
    // Unreachable when the copy could not be brought there in time or does not give the chain's
    // root.
    [[nodiscard]] PathAnswer path(const domain::Bytes32& round_id, std::uint32_t position,
                                  std::uint64_t anchor_height);

private:
    struct Round;
    using RoundPtr = std::shared_ptr<Round>;

    RoundPtr find(const domain::Bytes32& round_id);
    RoundPtr find_or_add(const domain::Bytes32& round_id);
    // The chain's tree at that height when status() saw it, else the latest.
    std::variant<LatestTree, engine::UnknownRound, engine::Unreachable> target(
        Round& round, std::uint64_t anchor_height);

    TreeSource& source_;
    const ports::Clock& clock_;
    std::function<ActiveRound()> active_round_;
    RoundTreesOptions options_;
    std::mutex mutex_;              // never held during a call of the source
    std::vector<RoundPtr> rounds_;  // the last used first
};

}  // namespace chains::votes::tree
