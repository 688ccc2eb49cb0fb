#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "chains/votes/fields.hpp"
#include "chains/votes/tree/commitment_tree.hpp"
#include "chains/votes/tree/tree_source.hpp"

namespace chains::votes {

// A chain whose trees a test writes, block by block. Any thread.
class ScriptedTreeSource : public tree::TreeSource {
public:
    using Leaves = std::vector<domain::Bytes32>;
    struct Call {
        domain::Bytes32 round_id{};
        std::uint64_t from_height = 0;
        std::uint64_t to_height = 0;
        std::uint64_t leaves_enough = 0;
    };
    using LatestAnswer = std::variant<tree::LatestTree, engine::UnknownRound, engine::Unreachable>;
    using LeavesAnswer = std::variant<tree::LeavesRead, engine::Unreachable>;

    void append(const domain::Bytes32& round_id, std::uint64_t height, const Leaves& leaves) {
        const std::lock_guard lock(mutex_);
        std::vector<tree::BlockLeaves>& blocks = rounds_[round_id];
        const std::uint64_t start =
            blocks.empty() ? 0 : blocks.back().start_index + blocks.back().leaves.size();
        blocks.push_back({height, start, leaves});
    }

    void reset(const domain::Bytes32& round_id) {
        const std::lock_guard lock(mutex_);
        rounds_[round_id].clear();
    }

    // What the chain says of the tree as it is now.
    tree::LatestTree tree(const domain::Bytes32& round_id) {
        const std::lock_guard lock(mutex_);
        tree::CommitmentTree tree;
        tree::LatestTree latest;
        for (const tree::BlockLeaves& block : rounds_[round_id]) {
            for (const auto& leaf : block.leaves)
                REQUIRE(tree.append(
                    std::vector{tree::PallasField::decode(leaf).value_or(tree::PallasField{})}));
            latest.height = block.height;
        }
        latest.next_index = tree.size();
        if (tree.size() > 0) latest.root = tree.root();
        return latest;
    }

    LatestAnswer latest(const domain::Bytes32& round_id) override {
        {
            const std::lock_guard lock(mutex_);
            ++latest_calls;
            if (!rounds_.contains(round_id)) return engine::UnknownRound{};
        }
        LatestAnswer answer = tree(round_id);
        if (on_latest) on_latest(answer);
        return answer;
    }

    LeavesAnswer leaves(const domain::Bytes32& round_id, const tree::LeavesQuery& query) override {
        const Call call{round_id, query.from_height, query.to_height, query.leaves_enough};
        tree::LeavesRead found{{}, query.to_height};
        {
            const std::lock_guard lock(mutex_);
            calls.push_back(call);
            for (const tree::BlockLeaves& block : rounds_[round_id])
                if (block.height >= query.from_height && block.height <= query.to_height)
                    found.blocks.push_back(block);
        }
        LeavesAnswer answer = found;
        if (on_leaves) on_leaves(call, answer);
        return answer;
    }

    // May change an answer before it is given; set before threads start.
    std::function<void(LatestAnswer&)> on_latest;
    std::function<void(const Call&, LeavesAnswer&)> on_leaves;
    std::vector<Call> calls;  // of leaves()
    int latest_calls = 0;

private:
    std::mutex mutex_;
    std::map<domain::Bytes32, std::vector<tree::BlockLeaves>> rounds_;
};

// Numbers as leaves.
inline ScriptedTreeSource::Leaves leaves_of(const std::vector<std::uint64_t>& numbers) {
    ScriptedTreeSource::Leaves leaves;
    for (const std::uint64_t value : numbers) leaves.push_back(number(value));
    return leaves;
}

}  // namespace chains::votes
