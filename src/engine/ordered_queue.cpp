#include "engine/ordered_queue.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace engine {

namespace {
constexpr std::size_t slots_min = 64;
}

OrderedQueue::OrderedQueue() {
    clear();
}

void OrderedQueue::clear() {
    members_.assign(slots_min, std::nullopt);
    tree_.assign(slots_min + 1, 0);
    slots_.clear();
    begin_ = end_ = 0;
}

bool OrderedQueue::push_back(Id id) {
    if (contains(id)) return false;
    if (end_ == members_.size()) make_room();
    members_[end_] = id;
    slots_.emplace(id, end_);
    add(end_, 1);
    ++end_;
    return true;
}

bool OrderedQueue::remove(Id id) {
    const auto found = slots_.find(id);
    if (found == slots_.end()) return false;
    assert(members_[found->second] == id);
    members_[found->second].reset();
    add(found->second, -1);
    slots_.erase(found);
    while (begin_ < end_ && !members_[begin_]) ++begin_;
    assert(slots_.empty() == (begin_ == end_));
    return true;
}

std::optional<OrderedQueue::Id> OrderedQueue::front() const {
    if (empty()) return std::nullopt;
    assert(members_[begin_]);
    return members_[begin_];
}

std::optional<OrderedQueue::Id> OrderedQueue::pop_front() {
    const std::optional<Id> id = front();
    if (id) remove(*id);
    return id;
}

std::optional<std::size_t> OrderedQueue::position(Id id) const {
    const auto found = slots_.find(id);
    if (found == slots_.end()) return std::nullopt;
    return count_before(found->second);
}

void OrderedQueue::add(std::size_t slot, std::int32_t amount) {
    for (std::size_t node = slot + 1; node < tree_.size(); node += node & (~node + 1)) {
        tree_[node] += amount;
    }
}

std::size_t OrderedQueue::count_before(std::size_t slot) const {
    std::int64_t count = 0;
    for (std::size_t node = slot; node > 0; node -= node & (~node + 1)) count += tree_[node];
    assert(count >= 0);
    return static_cast<std::size_t>(count);
}

// Closes the gaps and leaves as much room as there are members: amortised O(log n).
void OrderedQueue::make_room() {
    std::vector<Id> order;
    order.reserve(slots_.size());
    for (std::size_t slot = begin_; slot < end_; ++slot) {
        if (members_[slot]) order.push_back(*members_[slot]);
    }
    assert(order.size() == slots_.size());
    const std::size_t room = std::max(slots_min, order.size());
    members_.assign(order.size() + room, std::nullopt);
    tree_.assign(members_.size() + 1, 0);
    begin_ = end_ = 0;
    for (const Id id : order) {
        members_[end_] = id;
        slots_[id] = end_;
        add(end_, 1);
        ++end_;
    }
}

}  // namespace engine
