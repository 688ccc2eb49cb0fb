#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>

#include "chains/votes/reveal.hpp"
#include "chains/votes/tree/pallas.hpp"
#include "domain/bytes.hpp"

namespace chains::votes::tree {

inline constexpr std::size_t tree_depth = 24;
inline constexpr std::uint64_t tree_capacity = std::uint64_t{1} << tree_depth;

// The append-only vote commitment tree of one round: nodes are the Poseidon hash of their two
// children, the same on every level, and places without a leaf yet hold the hash of (0, 0). Keeps
// every complete node, 64 bytes a leaf, so that the tree can be looked at as it was when it had
// fewer leaves. One thread at a time.
class CommitmentTree {
public:
    // Of leaves, at most tree_capacity.
    explicit CommitmentTree(std::uint64_t leaves_max = tree_capacity);

    // False, and nothing changes, when they were more than the most allowed.
    [[nodiscard]] bool append(std::span<const PallasField> leaves);

    [[nodiscard]] std::uint64_t size() const { return nodes_[0].size(); }
    [[nodiscard]] std::uint64_t leaves_max() const { return leaves_max_; }
    // Nothing beyond the size.
    [[nodiscard]] std::optional<domain::Bytes32> leaf(std::uint64_t position) const;

    // As the tree was after its first `size` leaves, no more than there are. Costs up to 24 hashes.
    [[nodiscard]] domain::Bytes32 root(std::uint64_t size) const;
    [[nodiscard]] domain::Bytes32 root() const { return root(size()); }
    // The siblings of the leaf at a position below that size (share-helper 5.1).
    [[nodiscard]] MerklePath path(std::uint64_t position, std::uint64_t size) const;

private:
    // On each level the one node that has leaves below it but not all; else unused.
    using Edge = std::array<PallasField, tree_depth + 1>;
    Edge edge(std::uint64_t size) const;
    PallasField node(std::size_t level, std::uint64_t index, std::uint64_t size,
                     const Edge& incomplete) const;
    void add(const PallasField& leaf);

    std::uint64_t leaves_max_;
    // Complete nodes by level, leaves first. Deques, because growing them copies nothing.
    std::array<std::deque<PallasField>, tree_depth + 1> nodes_;
};

}  // namespace chains::votes::tree
