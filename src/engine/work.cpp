#include "engine/work.hpp"

#include <cassert>

namespace engine {

void Work::begin(Id id, Entry entry) {
    const bool is_new = entries_.emplace(id, entry).second;
    assert(is_new);
    count(entry, 1);
    changes_.push_back({id, std::nullopt});
}

std::optional<Work::Entry> Work::end(Id id, Task task) {
    const auto found = entries_.find(id);
    if (found == entries_.end() || found->second.task != task) return std::nullopt;
    const Entry entry = found->second;
    changes_.push_back({id, entry});
    count(entry, -1);
    entries_.erase(found);
    return entry;
}

std::optional<std::uint64_t> Work::ticket(Id id) const {
    const auto found = entries_.find(id);
    if (found == entries_.end() || found->second.task != Task::sign) return std::nullopt;
    return found->second.ticket;
}

void Work::count(const Entry& entry, int by) {
    if (entry.task != Task::rest && entry.task != Task::confirm) return;
    assert(by > 0 || idle_ > 0);
    by > 0 ? ++idle_ : --idle_;
}

void Work::keep() {
    assert(idle_ <= entries_.size());
    changes_.clear();
}

void Work::undo() {
    for (auto change = changes_.rbegin(); change != changes_.rend(); ++change) {
        if (change->before) {
            const bool is_back = entries_.emplace(change->id, *change->before).second;
            assert(is_back);
            count(*change->before, 1);
        } else if (const auto made = entries_.find(change->id); made != entries_.end()) {
            count(made->second, -1);
            entries_.erase(made);
        }
    }
    changes_.clear();
}

}  // namespace engine
