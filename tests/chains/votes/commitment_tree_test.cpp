#include "chains/votes/tree/commitment_tree.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "chains/votes/fields.hpp"
#include "chains/votes/merkle.hpp"
#include "chains/votes/naive_pallas.hpp"
#include "chains/votes/tree/poseidon.hpp"

namespace chains::votes {

namespace {

// The root of a whole tree of some height, by its definition.
tree::PallasField naive_root(const std::vector<tree::PallasField>& leaves, std::size_t first,
                             std::size_t height) {
    if (height == 0)
        return first < leaves.size()
                   ? leaves[first]
                   : tree::poseidon_hash(tree::PallasField{}, tree::PallasField{});
    static std::map<std::size_t, tree::PallasField> empty;
    if (first >= leaves.size() && empty.contains(height)) return empty.at(height);
    const std::size_t half = std::size_t{1} << (height - 1);
    const tree::PallasField root = tree::poseidon_hash(
        naive_root(leaves, first, height - 1), naive_root(leaves, first + half, height - 1));
    if (first >= leaves.size()) empty.emplace(height, root);
    return root;
}

std::vector<tree::PallasField> random_leaves(std::mt19937_64& random, std::size_t count) {
    std::vector<tree::PallasField> leaves;
    while (leaves.size() < count) leaves.push_back(element(naive::random_element(random)));
    return leaves;
}

}  // namespace

TEST_CASE("places without a leaf hold the hash of two zeros") {
    tree::PallasField root = tree::poseidon_hash(tree::PallasField{}, tree::PallasField{});
    for (std::size_t level = 0; level < tree::tree_depth; ++level)
        root = tree::poseidon_hash(root, root);
    CHECK(tree::CommitmentTree().root() == root.encode());
    CHECK(tree::CommitmentTree().size() == 0);
}

TEST_CASE("the path of a single leaf starts with its position and an empty place") {
    tree::CommitmentTree tree;
    REQUIRE(tree.append(std::vector{tree::PallasField::from(42)}));
    const MerklePath path = tree.path(0, 1);
    CHECK(position_in(path) == 0);
    CHECK(
        std::equal(path.begin() + 4, path.begin() + 36,
                   tree::poseidon_hash(tree::PallasField{}, tree::PallasField{}).encode().begin()));
    CHECK(root_by(path, number(42)) == tree.root());
}

TEST_CASE("roots of all sizes are those of the definition, whatever grew afterwards") {
    std::mt19937_64 random(1);
    const std::vector<tree::PallasField> leaves = random_leaves(random, 70);
    tree::CommitmentTree tree;
    REQUIRE(tree.append(leaves));
    for (std::size_t size = 0; size <= leaves.size(); ++size) {
        CAPTURE(size);
        const std::vector first(leaves.begin(), leaves.begin() + static_cast<std::ptrdiff_t>(size));
        CHECK(tree.root(size) == naive_root(first, 0, tree::tree_depth).encode());
    }
}

TEST_CASE("every path of every size leads from its leaf to that size's root") {
    std::mt19937_64 random(2);
    const std::vector<tree::PallasField> leaves = random_leaves(random, 21);
    tree::CommitmentTree tree;
    REQUIRE(tree.append(leaves));
    for (std::uint64_t size = 1; size <= leaves.size(); ++size)
        for (std::uint64_t position = 0; position < size; ++position) {
            CAPTURE(size);
            CAPTURE(position);
            const MerklePath path = tree.path(position, size);
            CHECK(position_in(path) == position);
            CHECK(root_by(path, leaves[position].encode()) == tree.root(size));
            const auto other = leaves[(position + 1) % leaves.size()].encode();
            CHECK(root_by(path, other) != tree.root(size));
        }
}

TEST_CASE("paths of large trees lead to the root of the size they are for") {
    std::mt19937_64 random(3);
    const std::vector<tree::PallasField> leaves = random_leaves(random, 3'000);
    tree::CommitmentTree tree;
    for (std::size_t at = 0; at < leaves.size();) {  // in pieces of random size
        const std::size_t count = std::min<std::size_t>(random() % 700, leaves.size() - at);
        REQUIRE(tree.append(std::span(leaves).subspan(at, count)));
        at += count;
    }
    for (int i = 0; i < 60; ++i) {
        const std::uint64_t size = random() % leaves.size() + 1;
        const std::uint64_t position = random() % size;
        CAPTURE(size);
        CAPTURE(position);
        CHECK(root_by(tree.path(position, size), leaves[position].encode()) == tree.root(size));
        CHECK(tree.leaf(position) == leaves[position].encode());
    }
    CHECK_FALSE(tree.leaf(leaves.size()).has_value());
}

TEST_CASE("a tree takes no more leaves than allowed, and then none of them") {
    tree::CommitmentTree tree(5);
    const std::vector<tree::PallasField> three(3, tree::PallasField::from(9));
    CHECK(tree.append(three));
    CHECK_FALSE(tree.append(three));
    CHECK(tree.size() == 3);
    CHECK(tree.append(std::span(three).first(2)));
    CHECK(tree::CommitmentTree(~std::uint64_t{0}).leaves_max() == 16'777'216);
}

}  // namespace chains::votes
