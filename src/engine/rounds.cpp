#include "engine/rounds.hpp"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

#include "base/sanitize.hpp"
#include "engine/shares.hpp"

namespace engine::rounds {

namespace {

// About a millisecond of writing each: the end of a round never holds up the step it falls into.
constexpr std::size_t rows_per_batch = 100;
constexpr std::size_t rounds_per_batch = 16;
constexpr domain::Milliseconds alert_pause{60'000};
constexpr std::size_t troubles_max = 64;  // the rounds that came last
constexpr std::size_t reason_bytes_max = 200;

// The latest end of rounds that are over: their last second has passed.
domain::Timestamp latest_end(const Context& context) {
    return context.now.wall - shares::last_second;
}

RoundAlert alert_of(const Context& context, const store::RoundRow& round) {
    RoundAlert alert{round.id,        round.round_id, round.vote_end, round.total,
                     round.submitted, round.failed,   round.timed_out};
    if (context.options.shares.tell_unconfirmed) alert.unconfirmed = round.unconfirmed;
    const auto trouble = context.round_troubles.find(round.id);
    if (trouble != context.round_troubles.end()) alert.reason = trouble->second;
    return alert;
}

std::vector<RoundAlert> alerts_of(const Context& context,
                                  const std::vector<store::RoundRow>& rounds) {
    std::vector<RoundAlert> alerts;
    alerts.reserve(rounds.size());
    for (const store::RoundRow& round : rounds) alerts.push_back(alert_of(context, round));
    return alerts;
}

// Written with this commit, and told after it.
void raise(Context& context, const store::RoundRow& round) {
    const RoundAlert alert = alert_of(context, round);
    assert(alert.submitted + alert.unsubmitted() == alert.total);
    context.store.add_alert(round, context.now.wall);
    context.effects.alert_lines.push_back(alert);
    context.effects.alerts.push_back(alert);
    context.next_alert[round.id] = context.now.monotonic + alert_pause;
}

bool is_settled(const store::RoundRow& round) {
    return round.submitted + round.failed + round.timed_out == round.total;
}

bool close_if_settled(Context& context, std::int64_t id) {
    std::optional<store::RoundRow> round = context.store.find_round(id);
    // A proof may still run, or the next batch goes on.
    if (!round || !is_settled(*round)) return false;
    context.store.close_round(id);
    if (round->submitted == round->total) return true;
    if (context.options.shares.tell_unconfirmed) {
        round->unconfirmed = context.store.admitted_only(*round);
    }
    raise(context, *round);
    return true;
}

// How many.
std::size_t expire_late(Context& context) {
    std::size_t expired = 0;
    for (auto round = context.late_rounds.begin();
         round != context.late_rounds.end() && expired < rows_per_batch && context.has_room();) {
        const std::size_t before = expired;
        expired += shares::expire(context, *round, rows_per_batch - expired);
        // Kept as long as there was something: this step may yet be rolled back.
        round = expired == before ? context.late_rounds.erase(round) : std::next(round);
    }
    return expired;
}

RoundAlert late_alert(const store::RoundRow& round, std::uint64_t late, std::uint64_t told) {
    RoundAlert alert{round.id, round.round_id, round.vote_end, late - told, 0, 0, late - told};
    alert.late = late;
    return alert;
}

// False: everybody knows of all that was dropped.
bool tell_late_of(Context& context, const store::RoundRow& round) {
    const std::optional<store::AlertRow> alert = context.store.find_alert(round.id);
    if (!alert) {
        // The late one may wait for its turn to be dropped.
        if (!is_settled(round) || round.submitted == round.total) return true;
        // All that came in time was revealed, whatever kept it for a while.
        context.round_troubles.erase(round.id);
        raise(context, round);
        return true;
    }
    const auto is_due = [&](const std::optional<std::uint64_t>& told) {
        return told && *told < alert->late;
    };
    const bool is_line_due = is_due(alert->logged);
    const bool is_alert_due = context.alerts != nullptr && is_due(alert->taken) &&
                              context.late_raised[round.id] < alert->late;
    if (is_line_due || is_alert_due) {
        context.next_alert[round.id] = context.now.monotonic + alert_pause;
    }
    if (is_line_due) {
        context.effects.alert_lines.push_back(late_alert(round, alert->late, *alert->logged));
    }
    if (is_alert_due) {
        context.late_raised[round.id] = alert->late;
        context.effects.alerts.push_back(late_alert(round, alert->late, *alert->taken));
    }
    const bool is_told = alert->logged >= alert->late && alert->taken >= alert->late;
    return !is_told || context.late_rounds.contains(round.id);
}

std::string hex_of(store::Store& store, std::int64_t id) {
    const std::optional<store::RoundRow> round = store.find_round(id);
    return round ? domain::to_hex(round->round_id) : "unknown";
}

}  // namespace

bool close_over(Context& context) {
    std::size_t expired = expire_late(context);
    const std::vector<store::RoundRow> over =
        context.store.rounds_over(latest_end(context), rounds_per_batch);
    bool closed = false;
    for (const store::RoundRow& round : over) {
        if (expired >= rows_per_batch || !context.has_room()) break;
        expired += shares::expire(context, round.id, rows_per_batch - expired);
        closed = close_if_settled(context, round.id) || closed;
    }
    return expired >= rows_per_batch || (closed && over.size() == rounds_per_batch);
}

std::optional<domain::Milliseconds> until_next_end(Context& context) {
    const domain::Timestamp now = latest_end(context);
    const std::optional<domain::Timestamp> end = context.store.next_round_end(now);
    if (!end) return std::nullopt;
    return *end - now;
}

void note_late(Context& context, const store::Row& share) {
    if (!share.round || !context.store.is_closed(*share.round)) return;
    context.late_rounds.insert(*share.round);
    context.late_untold.insert(*share.round);
    if (!context.late_rounds_told.insert(*share.round).second) return;
    context.effects.lines.push_back(
        {ports::LogLevel::warning,
         "share_after_round_end round_id=" + hex_of(context.store, *share.round)});
}

void tell_late(Context& context) {
    std::erase_if(context.next_alert,
                  [&](const auto& next) { return next.second <= context.now.monotonic; });
    for (auto id = context.late_untold.begin(); id != context.late_untold.end();) {
        if (context.next_alert.contains(*id)) {
            ++id;
            continue;
        }
        if (!context.has_room()) return;
        const std::optional<store::RoundRow> round = context.store.find_round(*id);
        const bool goes_on = round && tell_late_of(context, *round);
        id = goes_on ? std::next(id) : context.late_untold.erase(id);
    }
}

void reload_late_rounds(Context& context) {
    for (const std::int64_t round : context.store.closed_with_waiting()) {
        context.late_rounds.insert(round);
        context.late_untold.insert(round);
    }
    for (const std::int64_t round : context.store.rounds_with_late()) {
        context.late_untold.insert(round);
    }
}

std::vector<RoundAlert> open_alerts(Context& context) {
    return alerts_of(context, context.store.open_alerts());
}

std::vector<RoundAlert> unlogged_alerts(Context& context) {
    return alerts_of(context, context.store.unlogged_alerts());
}

void note_late_shares(Context& context, std::int64_t round, domain::Milliseconds late) {
    const auto trouble = context.round_troubles.find(round);
    const bool is_known = trouble != context.round_troubles.end();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(late).count();
    context.effects.lines.push_back(
        {ports::LogLevel::error,
         "shares_late alert=true round_id=" + hex_of(context.store, round) +
             " more_than_seconds=" + std::to_string(seconds) +
             (is_known ? " reason=" + base::log_value(trouble->second) : "") +
             " hint=\"they wait for the chain, the prover, or one of "
             "helper.max_concurrent_proofs\""});
}

void note_trouble(Context& context, const store::Row& share, const std::string& reason) {
    engine::note_trouble(context, share, reason);
    if (!share.round) return;
    context.round_troubles[*share.round] = base::sanitize(reason, {.bytes_max = reason_bytes_max});
    if (context.round_troubles.size() > troubles_max) {
        context.round_troubles.erase(context.round_troubles.begin());
    }
}

Effects::LogLine line_of(const RoundAlert& alert) {
    const std::string unconfirmed =
        alert.unconfirmed ? " unconfirmed=" + std::to_string(*alert.unconfirmed) : "";
    const std::string reason =
        alert.reason.empty() ? "" : " reason=" + base::log_value(alert.reason);
    return {ports::LogLevel::error,
            "round_closed_with_unsubmitted_shares alert=true round_id=" +
                domain::to_hex(alert.round_id) + " total=" + std::to_string(alert.total) +
                " submitted=" + std::to_string(alert.submitted) + " failed=" +
                std::to_string(alert.failed) + " pending=" + std::to_string(alert.pending) +
                " unsubmitted=" + std::to_string(alert.unsubmitted()) + unconfirmed + reason +
                (alert.late > 0 ? " after_end=true" : "")};
}

void mark_logged(Context& context, const std::vector<AlertMark>& alerts) {
    for (const auto& [round, late] : alerts) {
        context.store.mark_alert_logged(round, late);
        if (context.alerts == nullptr) context.store.take_alert(round, late);
    }
    context.effects.alerts_logged += alerts.size();
}

void PurgeTally::note(const std::vector<store::Change>& changes) {
    for (const store::Change& change : changes) {
        if (!change.to && change.round) ++rows_[*change.round];
    }
}

void PurgeTally::report(Context& context) {
    for (const auto& [round, rows] : std::exchange(rows_, {})) {
        context.effects.lines.push_back(
            {ports::LogLevel::info, "round_purged round_id=" + hex_of(context.store, round) +
                                        " rows_deleted=" + std::to_string(rows)});
    }
}

}  // namespace engine::rounds
