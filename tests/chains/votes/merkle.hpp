#pragma once

#include <algorithm>
#include <cstdint>

#include "chains/votes/fields.hpp"
#include "chains/votes/reveal.hpp"
#include "chains/votes/tree/poseidon.hpp"

namespace chains::votes {

inline std::uint32_t position_in(const MerklePath& path) {
    std::uint32_t position = 0;
    for (std::size_t i = 0; i < 4; ++i) position |= static_cast<std::uint32_t>(path[i]) << (8 * i);
    return position;
}

// Where a path leads from a leaf; what the chain's verifier computes.
inline domain::Bytes32 root_by(const MerklePath& path, const domain::Bytes32& leaf) {
    tree::PallasField node = element(leaf);
    const std::uint32_t position = position_in(path);
    for (std::size_t level = 0; level < 24; ++level) {
        domain::Bytes32 bytes{};
        std::copy_n(path.begin() + 4 + static_cast<std::ptrdiff_t>(32 * level), 32, bytes.begin());
        const tree::PallasField sibling = element(bytes);
        node = (position >> level & 1) == 0 ? tree::poseidon_hash(node, sibling)
                                            : tree::poseidon_hash(sibling, node);
    }
    return node.encode();
}

}  // namespace chains::votes
