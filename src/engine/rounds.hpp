#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/alerts.hpp"
#include "engine/context.hpp"

// The ends of vote rounds (share-helper 3.3), in batches that fit into a step.
namespace engine::rounds {

// Times out the shares that still wait in rounds that are over and closes those of which nothing is
// in work any more, with an alert if something was not revealed. True when there is more to do at
// once.
[[nodiscard]] bool close_over(Context& context);

// How long until the next round is over; nothing when none is open.
[[nodiscard]] std::optional<domain::Milliseconds> until_next_end(Context& context);

// A share of a round that is over came in. When the round is closed, the share times out with the
// next batch, and is in the next alert of the round.
void note_late(Context& context, const store::Row& share);

// Alerts what was dropped of closed rounds since the last alert of each, at most one a minute and
// round. At the end of a step.
void tell_late(Context& context);

// At start: shares that came too late and were not timed out, or not told of, before the end of the
// process.
void reload_late_rounds(Context& context);

// Alerts that nobody took yet.
[[nodiscard]] std::vector<RoundAlert> open_alerts(Context& context);

// Alerts whose line may not be in the log: the process ended before it was known to be.
[[nodiscard]] std::vector<RoundAlert> unlogged_alerts(Context& context);

// Shares of the round are late by that much; how many is not told.
void note_late_shares(Context& context, std::int64_t round, domain::Milliseconds late);

// Kept for the alert of the share's round, should it come to one.
void note_trouble(Context& context, const store::Row& share, const std::string& reason);

// What the log says of an alert (share-helper 3.3).
[[nodiscard]] Effects::LogLine line_of(const RoundAlert& alert);

// The lines of these alerts are out. With nobody else to tell they are done.
void mark_logged(Context& context, const std::vector<AlertMark>& alerts);

// How many rows of each round the purge at hand deleted so far. One thread.
class PurgeTally {
public:
    // What a commit changed.
    void note(const std::vector<store::Change>& changes);
    // One line for each round, and begins anew.
    void report(Context& context);

private:
    std::map<std::int64_t, std::uint64_t> rows_;
};

}  // namespace engine::rounds
