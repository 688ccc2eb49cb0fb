#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "chains/votes/tree/commitment_tree.hpp"
#include "chains/votes/tree/tree_source.hpp"
#include "domain/bytes.hpp"
#include "domain/time.hpp"
#include "engine/gateway.hpp"
#include "ports/clock.hpp"

namespace chains::votes::tree {

struct TreeCopyOptions {
    std::uint64_t leaves_max = tree_capacity;  // of one round; 64 bytes of memory each
    std::uint64_t blocks_first = 1'000;        // heights asked for at once to begin with
    std::uint64_t leaves_wanted = 4'096;       // in one answer; fewer heights if there were more
    int failures_max = 3;                      // calls in a row that fail until one gives up
    domain::Milliseconds reading_max{30'000};  // of one follow(); a proof waits for it
};

// A copy of one round's tree, read from the chain block by block. It only ever grows, and remembers
// how many leaves there were at which height. One thread at a time; calls block as long as the
// source does.
class TreeCopy {
public:
    TreeCopy(TreeSource& source, const ports::Clock& clock, const domain::Bytes32& round_id,
             const TreeCopyOptions& options);

    // Reads up to the target's height and compares with its size and root. Where a copy that was
    // there before does not agree (a chain that was reset or reorganised), it is dropped and read
    // anew, once. Nothing when all is well. When a call of the source failed or the time was up,
    // what is read stays, and the next call goes on there. More leaves than the target has are not
    // taken.
    [[nodiscard]] std::optional<engine::Unreachable> follow(const LatestTree& target);

    // How many leaves there were after the block of that height; no later than the last target.
    [[nodiscard]] std::uint64_t size_at(std::uint64_t height) const;
    // How many leaves a root of the chain stands for.
    [[nodiscard]] std::uint64_t confirmed() const { return confirmed_; }
    [[nodiscard]] const CommitmentTree& tree() const { return tree_; }

private:
    struct Agrees {};
    struct Mismatch {
        std::string reason;
    };
    using Reading = std::variant<Agrees, Mismatch, engine::Unreachable>;

    // What one follow() may bring.
    struct Bounds {
        std::uint64_t to_height = 0;
        std::uint64_t leaves_max = 0;
        domain::Monotonic deadline{};
    };

    Reading read(const LatestTree& target, domain::Monotonic deadline);
    Reading read_blocks(const Bounds& bounds);
    Reading append(const LeavesRead& read, const Bounds& bounds);
    Reading append(const BlockLeaves& block, std::uint64_t leaves_max);
    [[nodiscard]] static Mismatch more_than(std::uint64_t leaves);
    [[nodiscard]] Reading in_time(const Bounds& bounds) const;
    Reading compare(const LatestTree& target) const;
    void suit_page(std::uint64_t leaves, bool grows);
    void drop();

    struct Mark {
        std::uint64_t height = 0;
        std::uint64_t size = 0;  // after that block
    };

    TreeSource& source_;
    const ports::Clock& clock_;
    domain::Bytes32 round_id_;
    TreeCopyOptions options_;
    CommitmentTree tree_;
    std::vector<Mark> marks_;        // of blocks with leaves, ascending
    std::uint64_t next_height_ = 0;  // everything below it is read
    std::uint64_t page_size_;        // heights in the next call
    std::uint64_t confirmed_ = 0;
};

}  // namespace chains::votes::tree
