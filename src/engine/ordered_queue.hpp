#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace engine {

// A queue that knows every member's place: pushes, removal from anywhere and position() cost
// O(log n). Members are row ids, each at most once. One thread.
class OrderedQueue {
public:
    using Id = std::int64_t;

    OrderedQueue();

    // False, and nothing changes, when the id is already here.
    bool push_back(Id id);
    // False when it was not here.
    bool remove(Id id);
    std::optional<Id> pop_front();
    void clear();

    [[nodiscard]] std::optional<Id> front() const;
    // How many stand before it; nothing when it is not here.
    [[nodiscard]] std::optional<std::size_t> position(Id id) const;
    [[nodiscard]] bool contains(Id id) const { return slots_.contains(id); }
    [[nodiscard]] std::size_t size() const { return slots_.size(); }
    [[nodiscard]] bool empty() const { return slots_.empty(); }

private:
    // A binary indexed tree over the slots in use: prefix sums count the members before a slot.
    void add(std::size_t slot, std::int32_t amount);
    [[nodiscard]] std::size_t count_before(std::size_t slot) const;
    void make_room();

    std::vector<std::optional<Id>> members_;  // by slot
    std::vector<std::int32_t> tree_;          // one-based
    std::unordered_map<Id, std::size_t> slots_;
    std::size_t begin_ = 0;  // no member stands before this slot
    std::size_t end_ = 0;    // nor at or after this one
};

}  // namespace engine
