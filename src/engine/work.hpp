#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "domain/kind.hpp"

namespace engine {

enum class Task { check, prepare, send };

// What the gateway is busy with for us: one entry per order that was not answered yet. Changes of a
// step that is rolled back are undone. One thread.
class Work {
public:
    using Id = std::int64_t;

    struct Entry {
        Task task = Task::check;
        domain::Family family = domain::Family::input_proof;
    };

    void begin(Id id, Entry entry);
    // What it was; nothing when the answer is stale.
    std::optional<Entry> end(Id id, Task task);
    [[nodiscard]] bool contains(Id id) const { return entries_.contains(id); }
    [[nodiscard]] std::size_t size() const { return entries_.size(); }

    void keep();  // the step was committed
    void undo();  // the step was rolled back

    [[nodiscard]] const std::unordered_map<Id, Entry>& entries() const { return entries_; }

private:
    struct Change {
        Id id;
        std::optional<Entry> before;
    };

    std::unordered_map<Id, Entry> entries_;
    std::vector<Change> changes_;  // of this step, in order
};

}  // namespace engine
