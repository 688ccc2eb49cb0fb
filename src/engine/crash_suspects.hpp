#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <vector>

#include "engine/context.hpp"

namespace engine {

// Requests that were in work at several crashes in a row. One of them may be the cause, so they run
// apart from the others: in groups that begin with one and double as long as nothing happens, and
// who has one crash left runs alone. Innocent ones get their answer and are cleared, the guilty one
// reaches the limit alone. What is not in work crashes nobody: none waits for one before a gate
// that lets nobody through. Changes of a step that is rolled back are undone.
class CrashSuspects {
public:
    // From this many unanswered claims on a request is one.
    static constexpr std::uint32_t claims_min = 3;

    // So many crashes end the row.
    [[nodiscard]] static std::uint32_t crashes_max(const Context& context, const store::Row& row);
    [[nodiscard]] static bool is_one(const Context& context, const store::Row& row);

    // Sets the row aside until its turn. The order counts.
    void add(Context& context, const store::Row& row);
    // Its time to be looked at came up. False: it is none, or not for them to keep.
    [[nodiscard]] bool keep_aside(Context& context, const store::Row& row);
    // Lets the next ones go when none is running.
    void release_next(Context& context);
    // Called with the requests the gateway answered for, or that ended, in this step.
    void settled(const std::vector<std::int64_t>& sequences);

    void keep();  // the step was committed
    void undo();  // the step was rolled back

    [[nodiscard]] std::size_t size() const { return now_.waiting.size() + now_.running.size(); }

private:
    struct State {
        std::deque<store::Row> waiting;  // as they were set aside
        std::set<std::int64_t> running;
        std::size_t group = 1;  // how many go together next
    };

    // To be changed in this step.
    [[nodiscard]] State& state();
    void take_back(Context& context);

    State now_;
    std::optional<State> before_;  // of a step that changes it
};

}  // namespace engine
