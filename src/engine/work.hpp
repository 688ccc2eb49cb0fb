#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "domain/kind.hpp"

namespace engine {

// rest: signed, and waits until it is looked up and sent again. It keeps its place in flight.
// confirm: the chain took it; an end of the process need not wait for the answer.
// sign: the signature is fetched from elsewhere.
enum class Task { check, prepare, sign, send, rest, confirm };

// What the gateway is busy with for us: one entry per order that was not answered yet, and one for
// each request that rests between two. Changes of a step that is rolled back are undone. One
// thread.
class Work {
public:
    using Id = std::int64_t;

    struct Entry {
        Task task = Task::check;
        domain::Family family = domain::Family::input_proof;
        std::uint64_t ticket = 0;  // sign: whose answer is waited for
    };

    void begin(Id id, Entry entry);
    // What it was; nothing when the answer is stale.
    std::optional<Entry> end(Id id, Task task);
    // The ticket of the signature that is fetched for it.
    [[nodiscard]] std::optional<std::uint64_t> ticket(Id id) const;
    [[nodiscard]] bool contains(Id id) const { return entries_.contains(id); }
    // Orders that were not answered yet, and whose answers are waited for.
    [[nodiscard]] std::size_t busy() const { return entries_.size() - idle_; }

    void keep();  // the step was committed
    void undo();  // the step was rolled back

    [[nodiscard]] const std::unordered_map<Id, Entry>& entries() const { return entries_; }

private:
    void count(const Entry& entry, int by);

    struct Change {
        Id id;
        std::optional<Entry> before;
    };

    std::unordered_map<Id, Entry> entries_;
    std::size_t idle_ = 0;
    std::vector<Change> changes_;  // of this step, in order
};

}  // namespace engine
