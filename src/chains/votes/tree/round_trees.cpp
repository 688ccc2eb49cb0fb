#include "chains/votes/tree/round_trees.hpp"

#include <algorithm>
#include <cassert>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace chains::votes::tree {

namespace {

// Shares take their anchor right before their path, so a few suffice.
constexpr std::size_t anchors_max = 64;

engine::Unreachable in_use() {
    return {"the tree of the round is being read"};
}

// What the chain said of a round's tree, by height. Any thread.
class Anchors {
public:
    void remember(const LatestTree& latest) {
        const std::lock_guard lock(mutex_);
        // A chain that went back has other trees at the heights it lost.
        known_.erase(known_.lower_bound(latest.height), known_.end());
        known_.emplace(latest.height, latest);
        if (known_.size() > anchors_max) known_.erase(known_.begin());
    }

    std::optional<LatestTree> find(std::uint64_t height) {
        const std::lock_guard lock(mutex_);
        const auto known = known_.find(height);
        if (known == known_.end()) return std::nullopt;
        return known->second;
    }

private:
    std::mutex mutex_;
    std::map<std::uint64_t, LatestTree> known_;
};

// For std::unique_lock. Not std::timed_mutex: it locks by pthread_mutex_clocklock, which GCC 12's
// ThreadSanitizer does not know, so that every unlock looks like a fault.
class TimedMutex {
public:
    [[nodiscard]] bool try_lock_for(domain::Milliseconds patience) {
        std::unique_lock lock(mutex_);
        if (!unlocked_.wait_for(lock, patience, [this] { return !locked_; })) return false;
        locked_ = true;
        return true;
    }

    void unlock() {
        {
            const std::lock_guard lock(mutex_);
            assert(locked_);
            locked_ = false;
        }
        unlocked_.notify_one();
    }

private:
    std::mutex mutex_;
    std::condition_variable unlocked_;
    bool locked_ = false;
};

}  // namespace

struct RoundTrees::Round {
    Round(TreeSource& source, const ports::Clock& clock, const domain::Bytes32& round_id,
          const TreeCopyOptions& options)
        : id(round_id), copy(source, clock, round_id, options) {}

    const domain::Bytes32 id;
    Anchors anchors;
    TimedMutex mutex;  // guards the copy, also while it grows
    TreeCopy copy;
};

RoundTrees::RoundTrees(TreeSource& source, const ports::Clock& clock,
                       std::function<ActiveRound()> active_round, const RoundTreesOptions& options)
    : source_(source), clock_(clock), active_round_(std::move(active_round)), options_(options) {}

RoundTrees::~RoundTrees() = default;

RoundTrees::RoundPtr RoundTrees::find(const domain::Bytes32& round_id) {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(rounds_, round_id, [](const auto& r) { return r->id; });
    if (found == rounds_.end()) return nullptr;
    std::rotate(rounds_.begin(), found, found + 1);
    return rounds_.front();
}

RoundTrees::RoundPtr RoundTrees::find_or_add(const domain::Bytes32& round_id) {
    if (RoundPtr found = find(round_id)) return found;
    auto added = std::make_shared<Round>(source_, clock_, round_id, options_.copy);
    RoundPtr displaced;  // a large tree takes a while to free: after the lock
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(rounds_, round_id, [](const auto& r) { return r->id; });
    if (found != rounds_.end()) return *found;  // another thread was faster
    rounds_.insert(rounds_.begin(), added);
    if (rounds_.size() > options_.rounds_max) {
        displaced = std::move(rounds_.back());
        rounds_.pop_back();
    }
    return added;
}

engine::TreeStatusAnswer RoundTrees::status(const domain::Bytes32& round_id) {
    const auto answer = source_.latest(round_id);
    if (std::holds_alternative<engine::UnknownRound>(answer)) return engine::UnknownRound{};
    if (const auto* problem = std::get_if<engine::Unreachable>(&answer)) return *problem;
    const auto& latest = std::get<LatestTree>(answer);
    if (latest.height != 0) find_or_add(round_id)->anchors.remember(latest);
    return engine::TreeStatus{latest.next_index, latest.height};
}

engine::TreeStatusAnswer RoundTrees::active_status() {
    const ActiveRound active = active_round_();
    if (const auto* problem = std::get_if<engine::Unreachable>(&active)) return *problem;
    const auto* round_id = std::get_if<domain::Bytes32>(&active);
    if (round_id == nullptr) return engine::UnknownRound{};
    return status(*round_id);
}

engine::LeafAnswer RoundTrees::leaf(const domain::Bytes32& round_id, std::uint64_t position) {
    if (const RoundPtr known = find(round_id)) {
        const std::unique_lock lock(known->mutex, options_.wait_max);
        if (!lock.owns_lock()) return in_use();
        if (position < known->copy.confirmed()) return *known->copy.tree().leaf(position);
    }
    const auto answer = source_.latest(round_id);
    if (std::holds_alternative<engine::UnknownRound>(answer)) return engine::NoLeaf{};
    if (const auto* problem = std::get_if<engine::Unreachable>(&answer)) return *problem;
    const auto& latest = std::get<LatestTree>(answer);
    if (position >= latest.next_index) return engine::NoLeaf{};

    const RoundPtr round = find_or_add(round_id);  // only now: it may push out another one
    const std::unique_lock lock(round->mutex, options_.wait_max);
    if (!lock.owns_lock()) return in_use();
    if (const auto problem = round->copy.follow(latest)) return *problem;
    assert(position < round->copy.confirmed());
    return *round->copy.tree().leaf(position);
}

std::variant<LatestTree, engine::UnknownRound, engine::Unreachable> RoundTrees::target(
    Round& round, std::uint64_t anchor_height) {
    if (const auto known = round.anchors.find(anchor_height)) return *known;
    return source_.latest(round.id);
}

PathAnswer RoundTrees::path(const domain::Bytes32& round_id, std::uint32_t position,
                            std::uint64_t anchor_height) {
    const RoundPtr round = find_or_add(round_id);
    const auto answer = target(*round, anchor_height);
    if (const auto* problem = std::get_if<engine::Unreachable>(&answer)) return *problem;
    const auto* latest = std::get_if<LatestTree>(&answer);
    if (latest == nullptr)
        return engine::Unreachable{"the chain does not know the round of the tree"};
    if (anchor_height == 0 || latest->height < anchor_height)
        return engine::Unreachable{"the chain has no tree of the round at block " +
                                   std::to_string(anchor_height)};
    const std::unique_lock lock(round->mutex, options_.wait_max);
    if (!lock.owns_lock()) return in_use();
    if (const auto problem = round->copy.follow(*latest)) return *problem;

    const std::uint64_t size = round->copy.size_at(anchor_height);
    assert(size <= round->copy.tree().size());
    if (position >= size) return PathOutOfRange{};
    return round->copy.tree().path(position, size);
}

}  // namespace chains::votes::tree
