#pragma once

#include <deque>
#include <optional>

#include "engine/context.hpp"

namespace engine {

// Requests that were in work at several crashes in a row. One of them may be the cause, so they run
// one at a time: an innocent one gets its answer and is cleared, the guilty one reaches the limit
// alone. Changes of a step that is rolled back are undone.
class Suspects {
public:
    // From this many unanswered claims on a request is one.
    static constexpr std::uint32_t claims_min = 3;

    void add(std::int64_t sequence) { waiting_.push_back(sequence); }
    // Lets the next one go when none is running.
    void release_next(Context& context);
    // Called with the requests the gateway answered for, or that ended, in this step.
    void settled(const std::vector<std::int64_t>& sequences);

    void keep();  // the step was committed
    void undo();  // the step was rolled back

    [[nodiscard]] std::size_t size() const { return waiting_.size() + (running_ ? 1 : 0); }

private:
    std::deque<std::int64_t> waiting_;
    std::optional<std::int64_t> running_;
    // What the step at hand changed.
    std::deque<std::int64_t> released_;
    std::optional<std::int64_t> running_before_;
};

}  // namespace engine
