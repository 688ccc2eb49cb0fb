#pragma once

#include <cstdint>
#include <functional>

#include "engine/context.hpp"
#include "engine/crash_suspects.hpp"

// What is done once at start, before anybody is let in (relayer-api 7.2, share-helper 3.2).
namespace engine::recovery {

struct Report {
    // What was in work at the end of the last process, orderly or not, and of those since then
    // whose start did not get as far as a step.
    std::uint64_t in_flight = 0;         // may have left: looked up before anything is sent again
    std::uint64_t processing = 0;        // waits for the sending gate again
    std::uint64_t queued = 0;            // waits for readiness again
    std::uint64_t shares = 0;            // back on schedule
    std::uint64_t waiting = 0;           // for its answer or the end of a pause; untouched
    std::uint64_t quarantined = 0;       // the process died on it too often
    std::uint64_t suspects = 0;          // will run alone
    bool has_unsigned = false;           // relayer requests that wait unsigned and are not held
    std::vector<store::Change> changes;  // the moves it made
};

// How the last process ended, if not in an orderly way.
enum class LastEnd {
    by_itself,     // what it worked on may be why
    from_outside,  // killed, or the machine ended: nothing it worked on is to blame
};

// Puts every row that was in work back where its work can start again. Costs O(rows in work).
// After an end from outside none is given up for it, but it still runs with fewer others.
// `progress` is called now and then, between commits.
[[nodiscard]] Report run(Context& context, CrashSuspects& suspects, LastEnd last_end,
                         const std::function<void()>& progress);

// At an orderly end: what is still in work goes back where it can start again, and does not count
// as cut off by a crash. In the transaction that is open, which may be too small: then true, and
// the rest is to be released in another one. `released`: so much was by those before.
[[nodiscard]] bool release(Context& context, std::size_t& released);

// With the first step: what run() put back is no longer what was in work.
void forget_in_work(Context& context);

// What the gateway must know to go on. After run().
[[nodiscard]] Resume resume(store::Store& store, const Report& report);

// Lines up every row that stands in a line in the database, those that may have left first; returns
// how many.
std::size_t rebuild_queues(Context& context);

// Out of its queue, until somebody lines it up again.
void set_aside(Context& context, const store::Row& row);

// One row back to the start of its gate.
void enqueue(Context& context, const store::Row& row);

}  // namespace engine::recovery
