#include "chains/votes/tree/commitment_tree.hpp"

#include <algorithm>
#include <cassert>

#include "chains/votes/tree/poseidon.hpp"

namespace chains::votes::tree {

namespace {

using Roots = std::array<PallasField, tree_depth + 1>;

// Of trees without leaves, by height.
const Roots& empty_roots() {
    static const Roots made = [] {
        Roots roots;
        roots[0] = poseidon_hash(PallasField{}, PallasField{});
        for (std::size_t level = 1; level < roots.size(); ++level)
            roots[level] = poseidon_hash(roots[level - 1], roots[level - 1]);
        return roots;
    }();
    return made;
}

bool bit(std::uint64_t value, std::size_t index) {
    return (value >> index & 1) != 0;
}

}  // namespace

CommitmentTree::CommitmentTree(std::uint64_t leaves_max)
    : leaves_max_(std::min(leaves_max, tree_capacity)) {}

bool CommitmentTree::append(std::span<const PallasField> leaves) {
    if (leaves.size() > leaves_max_ - size()) return false;
    for (const PallasField& leaf : leaves) add(leaf);
    return true;
}

void CommitmentTree::add(const PallasField& leaf) {
    nodes_[0].push_back(leaf);
    for (std::size_t level = 0; level < tree_depth && nodes_[level].size() % 2 == 0; ++level) {
        const std::deque<PallasField>& children = nodes_[level];
        nodes_[level + 1].push_back(poseidon_hash(children[children.size() - 2], children.back()));
    }
}

std::optional<domain::Bytes32> CommitmentTree::leaf(std::uint64_t position) const {
    if (position >= size()) return std::nullopt;
    return nodes_[0][position].encode();
}

CommitmentTree::Edge CommitmentTree::edge(std::uint64_t size) const {
    Edge incomplete{};
    bool any = false;  // whether the level below has an incomplete node
    for (std::size_t level = 0; level < tree_depth; ++level) {
        const PallasField& empty = empty_roots()[level];
        if (bit(size, level)) {
            const PallasField& left = nodes_[level][(size >> level) - 1];
            incomplete[level + 1] = poseidon_hash(left, any ? incomplete[level] : empty);
            any = true;
        } else if (any) {
            incomplete[level + 1] = poseidon_hash(incomplete[level], empty);
        }
    }
    return incomplete;
}

PallasField CommitmentTree::node(std::size_t level, std::uint64_t index, std::uint64_t size,
                                 const Edge& incomplete) const {
    if (index < size >> level) return nodes_[level][index];
    if (index << level < size) return incomplete[level];
    return empty_roots()[level];
}

domain::Bytes32 CommitmentTree::root(std::uint64_t size) const {
    assert(size <= this->size());
    return node(tree_depth, 0, size, edge(size)).encode();
}

MerklePath CommitmentTree::path(std::uint64_t position, std::uint64_t size) const {
    assert(position < size && size <= this->size());
    const Edge incomplete = edge(size);
    MerklePath path{};
    auto to = path.begin();
    for (std::size_t byte = 0; byte < 4; ++byte)
        *to++ = static_cast<std::uint8_t>(position >> (8 * byte));
    for (std::size_t level = 0; level < tree_depth; ++level) {
        const std::uint64_t sibling = (position >> level) ^ 1;
        to = std::ranges::copy(node(level, sibling, size, incomplete).encode(), to).out;
    }
    assert(to == path.end());
    return path;
}

}  // namespace chains::votes::tree
