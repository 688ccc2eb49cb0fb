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
    const RoundAlert alert = alert_of(context, *round);
    assert(alert.submitted + alert.unsubmitted() == alert.total);
    context.store.add_alert(*round, context.now.wall);
    context.effects.alerts.push_back(alert);
    return true;
}

// How many.
std::size_t expire_late(Context& context) {
    std::size_t expired = 0;
    for (auto round = context.late_rounds.begin();
         round != context.late_rounds.end() && expired < rows_per_batch;) {
        const std::size_t before = expired;
        expired += shares::expire(context, *round, rows_per_batch - expired);
        // Kept as long as there was something: this step may yet be rolled back.
        round = expired == before ? context.late_rounds.erase(round) : std::next(round);
    }
    return expired;
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
        if (expired >= rows_per_batch) break;
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
    if (!context.late_rounds_told.insert(*share.round).second) return;
    context.effects.lines.push_back(
        {ports::LogLevel::warning,
         "share_after_round_end round_id=" + hex_of(context.store, *share.round)});
}

void reload_late_rounds(Context& context) {
    for (const std::int64_t round : context.store.closed_with_waiting()) {
        context.late_rounds.insert(round);
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
                " unsubmitted=" + std::to_string(alert.unsubmitted()) + unconfirmed + reason};
}

void mark_logged(Context& context, const std::vector<std::int64_t>& rounds) {
    for (const std::int64_t round : rounds) {
        context.store.mark_alert_logged(round);
        if (context.alerts == nullptr) context.store.take_alert(round);
    }
    context.effects.alerts_logged += rounds.size();
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
