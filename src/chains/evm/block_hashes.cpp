#include "chains/evm/block_hashes.hpp"

#include <iterator>

namespace chains::evm {

void BlockHashes::put(std::uint64_t number, const domain::Bytes32& hash) {
    if (depth_ == 0) return;
    hashes_[number] = hash;
    const std::uint64_t highest = hashes_.rbegin()->first;
    if (highest > depth_) hashes_.erase(hashes_.begin(), hashes_.lower_bound(highest - depth_));
}

std::optional<domain::Bytes32> BlockHashes::at(std::uint64_t number) const {
    const auto found = hashes_.find(number);
    if (found == hashes_.end()) return std::nullopt;
    return found->second;
}

std::vector<BlockHashes::Block> BlockHashes::newest_first(std::uint64_t number) const {
    const auto end = hashes_.upper_bound(number);
    return {std::make_reverse_iterator(end), hashes_.rend()};
}

void BlockHashes::forget_from(std::uint64_t number) {
    hashes_.erase(hashes_.lower_bound(number), hashes_.end());
}

}  // namespace chains::evm
