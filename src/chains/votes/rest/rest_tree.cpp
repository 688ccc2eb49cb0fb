#include "chains/votes/rest/rest_tree.hpp"

#include <optional>
#include <utility>

#include "chains/jsonrpc/decode.hpp"

namespace chains::votes::rest {
namespace {

using engine::Unreachable;

std::optional<tree::BlockLeaves> read_block(const jsonrpc::Json& value) {
    if (!value.is_object()) return std::nullopt;
    const auto height = number_of(value, "height");
    const auto start_index = number_of(value, "start_index");
    if (!height || !start_index) return std::nullopt;
    tree::BlockLeaves block{*height, *start_index, {}};
    const jsonrpc::Json& leaves = jsonrpc::member(value, "leaves");
    if (leaves.is_null()) return block;
    if (!leaves.is_array()) return std::nullopt;
    block.leaves.reserve(leaves.size());
    for (const jsonrpc::Json& text : leaves) {
        const auto leaf = bytes32_of(text);
        if (!leaf) return std::nullopt;
        block.leaves.push_back(*leaf);
    }
    return block;
}

}  // namespace

std::variant<tree::LatestTree, engine::UnknownRound, Unreachable> read_latest_tree(
    const RestReply& reply) {
    if (!is_success(reply)) {
        if (is_not_found(reply)) return engine::UnknownRound{};
        return unreachable(reply);
    }
    if (!reply.json) return Unreachable{"tree: no JSON"};
    const jsonrpc::Json& tree = jsonrpc::member(*reply.json, "tree");
    if (!tree.is_object()) return Unreachable{"tree: none in answer"};
    const auto next_index = number_of(tree, "next_index");
    const auto height = number_of(tree, "height");
    if (!next_index || !height) return Unreachable{"tree: a member is no whole number"};
    tree::LatestTree latest{*next_index, {}, *height};
    if (const jsonrpc::Json& text = jsonrpc::member(tree, "root"); !text.is_null()) {
        const auto root = bytes32_of(text);
        if (!root) return Unreachable{"tree: root has not 32 bytes"};
        latest.root = *root;
    }
    return latest;
}

std::variant<LeavesPage, Unreachable> read_leaves(const RestReply& reply, std::uint64_t from_height,
                                                  std::uint64_t to_height) {
    if (!is_success(reply)) return unreachable(reply);
    if (!reply.json || !reply.json->is_object()) return Unreachable{"leaves: no JSON"};
    const jsonrpc::Json& blocks = jsonrpc::member(*reply.json, "blocks");
    if (!blocks.is_null() && !blocks.is_array()) return Unreachable{"leaves: blocks are no list"};
    LeavesPage page;
    std::uint64_t height_min = from_height;
    for (const jsonrpc::Json& value : blocks) {
        auto block = read_block(value);
        if (!block) return Unreachable{"leaves: a block can not be read"};
        if (block->height < height_min || block->height > to_height) {
            return Unreachable{"leaves: blocks out of order"};
        }
        height_min = block->height + 1;
        if (!block->leaves.empty()) page.blocks.push_back(std::move(*block));
    }
    const auto next = number_of(*reply.json, "next_from_height");
    if (!next ||
        (*next != 0 && (*next < height_min || *next <= from_height || *next > to_height))) {
        return Unreachable{"leaves: the next page can not be found"};
    }
    page.next_from_height = *next;
    return page;
}

}  // namespace chains::votes::rest
