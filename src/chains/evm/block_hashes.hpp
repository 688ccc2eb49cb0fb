#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "domain/bytes.hpp"

namespace chains::evm {

// The hashes of blocks that were read, as far as they are known: the highest one and those up to
// `depth` blocks below it.
class BlockHashes {
public:
    using Block = std::pair<std::uint64_t, domain::Bytes32>;

    explicit BlockHashes(std::uint64_t depth) : depth_(depth) {}

    void put(std::uint64_t number, const domain::Bytes32& hash);
    [[nodiscard]] std::optional<domain::Bytes32> at(std::uint64_t number) const;
    // Those at or below `number`.
    [[nodiscard]] std::vector<Block> newest_first(std::uint64_t number) const;
    void forget_from(std::uint64_t number);

private:
    std::uint64_t depth_;
    std::map<std::uint64_t, domain::Bytes32> hashes_;
};

}  // namespace chains::evm
