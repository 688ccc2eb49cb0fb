#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>
#include <vector>

#include "engine/context.hpp"

namespace engine {

// Requests that were in work at several crashes in a row. One of them may be the cause, so they run
// apart from the others: in groups that begin with one and double as long as nothing happens, and
// who has one crash left runs alone. Innocent ones get their answer and are cleared, the guilty one
// reaches the limit alone. Changes of a step that is rolled back are undone.
class CrashSuspects {
public:
    // From this many unanswered claims on a request is one.
    static constexpr std::uint32_t claims_min = 3;

    // The order counts. `has_last_chance`: the next crash would be its last.
    void add(std::int64_t sequence, bool has_last_chance) {
        waiting_.push_back({sequence, has_last_chance});
    }
    // Lets the next ones go when none is running.
    void release_next(Context& context);
    // Called with the requests the gateway answered for, or that ended, in this step.
    void settled(const std::vector<std::int64_t>& sequences);

    void keep();  // the step was committed
    void undo();  // the step was rolled back

    [[nodiscard]] std::size_t size() const { return waiting_.size() + running_.size(); }

private:
    struct Suspect {
        std::int64_t sequence = 0;
        bool has_last_chance = false;
    };

    std::deque<Suspect> waiting_;
    std::set<std::int64_t> running_;
    std::size_t group_ = 1;  // how many go together next
    // What the step at hand changed.
    std::deque<Suspect> released_;
    std::set<std::int64_t> running_before_;
    std::size_t group_before_ = 1;
};

}  // namespace engine
