#include "chains/votes/tree/tree_copy.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <sstream>
#include <utility>

namespace chains::votes::tree {

namespace {

constexpr std::uint64_t height_max = std::numeric_limits<std::int64_t>::max();

template <typename... Parts>
std::string text(const Parts&... parts) {
    std::ostringstream joined;
    (joined << ... << parts);
    return joined.str();
}

}  // namespace

TreeCopy::TreeCopy(TreeSource& source, const ports::Clock& clock, const domain::Bytes32& round_id,
                   const TreeCopyOptions& options)
    : source_(source),
      clock_(clock),
      round_id_(round_id),
      options_(options),
      tree_(options.leaves_max),
      page_size_(std::max<std::uint64_t>(options.blocks_first, 1)) {}

std::optional<engine::Unreachable> TreeCopy::follow(const LatestTree& target) {
    if (target.height == 0)
        return engine::Unreachable{"the chain has no root of the round's tree yet"};
    if (target.height > height_max)
        return engine::Unreachable{"the chain named a height that can not be"};
    if (target.next_index > tree_.leaves_max())
        return engine::Unreachable{text("the tree of the round has ", target.next_index,
                                        " leaves, more than ", tree_.leaves_max())};
    const domain::Monotonic deadline = clock_.monotonic() + options_.reading_max;
    for (bool anew = next_height_ == 0;; anew = true) {
        const Reading reading = read(target, deadline);
        if (std::holds_alternative<Agrees>(reading)) {
            assert(target.next_index <= tree_.size());
            confirmed_ = std::max(confirmed_, target.next_index);
            return std::nullopt;
        }
        if (const auto* problem = std::get_if<engine::Unreachable>(&reading)) return *problem;
        drop();
        if (anew) return engine::Unreachable{std::get<Mismatch>(reading).reason};
    }
}

TreeCopy::Reading TreeCopy::read(const LatestTree& target, domain::Monotonic deadline) {
    Reading reading = read_blocks({target.height, target.next_index, deadline});
    return std::holds_alternative<Agrees>(reading) ? compare(target) : reading;
}

TreeCopy::Reading TreeCopy::read_blocks(const Bounds& bounds) {
    int failures = 0;
    bool grows = true;
    while (next_height_ <= bounds.to_height) {
        if (tree_.size() > bounds.leaves_max) return more_than(bounds.leaves_max);
        Reading timely = in_time(bounds);
        if (!std::holds_alternative<Agrees>(timely)) return timely;
        const std::uint64_t last =
            next_height_ + std::min(page_size_ - 1, bounds.to_height - next_height_);
        assert(last >= next_height_ && last <= bounds.to_height);
        const std::uint64_t missing = bounds.leaves_max - tree_.size();
        const auto answer =
            source_.leaves(round_id_, {.from_height = next_height_,
                                       .to_height = last,
                                       .leaves_enough = std::min(missing, options_.leaves_wanted),
                                       .deadline = bounds.deadline});
        if (const auto* problem = std::get_if<engine::Unreachable>(&answer)) {
            // The answer may have been too large for it, so ask for less from now on.
            grows = false;
            page_size_ = std::max<std::uint64_t>((last - next_height_ + 1) / 2, 1);
            if (++failures >= options_.failures_max) return *problem;
            continue;
        }
        failures = 0;
        const std::uint64_t before = tree_.size();
        Reading appended = append(std::get<LeavesRead>(answer), bounds);
        if (!std::holds_alternative<Agrees>(appended)) return appended;
        suit_page(tree_.size() - before, grows);
    }
    return Agrees{};
}

TreeCopy::Reading TreeCopy::in_time(const Bounds& bounds) const {
    if (clock_.monotonic() < bounds.deadline) return Agrees{};
    return engine::Unreachable{text("the tree of the round could not be read within ",
                                    options_.reading_max.count(), " ms; block ", next_height_,
                                    " of ", bounds.to_height, " is next")};
}

TreeCopy::Mismatch TreeCopy::more_than(std::uint64_t leaves) {
    return {text("the tree of the round has more than ", leaves, " leaves")};
}

// Rounds are short parts of a long chain: where there are few leaves, go in larger steps.
void TreeCopy::suit_page(std::uint64_t leaves, bool grows) {
    if (leaves > options_.leaves_wanted)
        page_size_ = std::max<std::uint64_t>(page_size_ / 2, 1);
    else if (grows && leaves <= options_.leaves_wanted / 4)
        page_size_ = std::min(page_size_ * 2, height_max);
}

TreeCopy::Reading TreeCopy::append(const LeavesRead& read, const Bounds& bounds) {
    for (const BlockLeaves& block : read.blocks) {
        if (block.height < next_height_ || block.height > read.to_height)
            return Mismatch{
                text("the chain listed the leaves of block ", block.height, " out of order")};
        // Hashing many leaves takes its time as well.
        Reading timely = in_time(bounds);
        if (!std::holds_alternative<Agrees>(timely)) return timely;
        Reading appended = append(block, bounds.leaves_max);
        if (!std::holds_alternative<Agrees>(appended)) return appended;
        next_height_ = block.height + 1;
    }
    next_height_ = read.to_height + 1;
    return Agrees{};
}

TreeCopy::Reading TreeCopy::append(const BlockLeaves& block, std::uint64_t leaves_max) {
    if (block.leaves.empty()) return Agrees{};
    if (block.start_index != tree_.size())
        return Mismatch{text("the leaves of block ", block.height, " start at ", block.start_index,
                             " instead of ", tree_.size())};
    if (block.leaves.size() > leaves_max - tree_.size()) return more_than(leaves_max);
    std::vector<PallasField> leaves;
    leaves.reserve(block.leaves.size());
    for (const domain::Bytes32& bytes : block.leaves) {
        const std::optional<PallasField> leaf = PallasField::decode(bytes);
        if (!leaf)
            return Mismatch{text("leaf ", tree_.size() + leaves.size(),
                                 " of the round's tree is no field element")};
        leaves.push_back(*leaf);
    }
    if (!tree_.append(leaves)) return more_than(tree_.leaves_max());
    assert(marks_.empty() || marks_.back().height < block.height);  // size_at() looks by halves
    marks_.push_back({block.height, tree_.size()});
    return Agrees{};
}

TreeCopy::Reading TreeCopy::compare(const LatestTree& target) const {
    const std::uint64_t size = size_at(target.height);
    if (size != target.next_index)
        return Mismatch{text("the tree of the round has ", size, " leaves at block ", target.height,
                             " instead of ", target.next_index)};
    // The chain stores no root of a tree without leaves.
    if (size > 0 && tree_.root(size) != target.root)
        return Mismatch{"the tree of the round does not match the chain's root"};
    return Agrees{};
}

std::uint64_t TreeCopy::size_at(std::uint64_t height) const {
    const auto later = std::ranges::upper_bound(marks_, height, {}, &Mark::height);
    return later == marks_.begin() ? 0 : std::prev(later)->size;
}

void TreeCopy::drop() {
    tree_ = CommitmentTree(options_.leaves_max);
    marks_.clear();
    next_height_ = 0;
    confirmed_ = 0;
}

}  // namespace chains::votes::tree
