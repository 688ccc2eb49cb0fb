#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "chains/evm/receipt.hpp"
#include "domain/bytes.hpp"
#include "domain/time.hpp"

namespace chains::evm {

// The blocks of the last seconds: a node may have a block before it has the block's logs, and says
// nothing of it (evm-gateway 8.3). They are asked for again until they were once at that age, and a
// log counts when it is seen first. One thread at a time.
class FreshLogs {
public:
    [[nodiscard]] bool empty() const { return ranges_.empty(); }

    // The first of those blocks, `earliest` or later.
    [[nodiscard]] std::optional<std::uint64_t> from(std::uint64_t earliest) {
        while (!ranges_.empty() && ranges_.front().second < earliest) ranges_.pop_front();
        if (ranges_.empty()) return std::nullopt;
        return ranges_.front().second;
    }

    // The range that begins there was read for the first time.
    void add(std::uint64_t from, domain::Monotonic now) { ranges_.emplace_back(now, from); }

    // All blocks from from() on were read again; `next`: the one behind the last.
    void settle(std::uint64_t next, domain::Monotonic now) {
        while (!ranges_.empty() && now - ranges_.front().first >= delay_max) ranges_.pop_front();
        const std::uint64_t from = ranges_.empty() ? next : ranges_.front().second;
        logs_.erase(logs_.begin(), logs_.lower_bound({from, {}, 0}));
    }

    // False when it was seen in these blocks before.
    [[nodiscard]] bool mark(const Log& log) {
        return logs_.emplace(log.block_number, log.block_hash, log.index).second;
    }

    void forget() {
        ranges_.clear();
        logs_.clear();
    }

private:
    static constexpr domain::Milliseconds delay_max{10'000};

    // When it was read first, and its first block; oldest first.
    std::deque<std::pair<domain::Monotonic, std::uint64_t>> ranges_;
    std::set<std::tuple<std::uint64_t, domain::Bytes32, std::uint64_t>> logs_;
};

}  // namespace chains::evm
