#include "engine/recovery.hpp"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "engine/holds.hpp"
#include "engine/sending.hpp"
#include "engine/shares.hpp"

namespace engine {

using domain::Cause;
using domain::Kind;
using domain::Milliseconds;
using domain::Status;

namespace recovery {

namespace {

constexpr std::size_t rows_per_commit = 2'000;

bool in_send_stage(Status status) {
    return status == Status::processing || status == Status::tx_in_flight;
}

// A share is looked at again when its round is over.
store::Schedule on_timer(const Context& context, const store::Row& row) {
    store::Schedule schedule = row.schedule;
    Milliseconds pause = second_look;
    if (row.kind == Kind::share && schedule.deadline) {
        const Milliseconds left = *schedule.deadline + shares::last_second - context.now.wall;
        pause = std::clamp(left, Milliseconds{0}, pause);
    }
    schedule.lane = store::Lane::timer;
    schedule.wake = context.now.steady + pause;
    return schedule;
}

// Takes back what the status promised before the crash (the reset of relayer-api 7.2).
store::Row reset(Context& context, const store::Row& row) {
    assert(!domain::is_terminal(row.status));
    store::Row after = row;
    if (row.kind == Kind::share && in_send_stage(row.status)) {
        after.status = Status::queued;
    } else if (row.status == Status::tx_in_flight) {
        after.status = Status::processing;
    }
    if (after.status == row.status) return after;
    const bool moved = context.store.move(row, {row.status, after.status, Cause::recovered},
                                          on_timer(context, row), context.now.wall);
    if (!moved) ++context.stale;
    return after;
}

// A wake far beyond what any wait takes was written under another clock.
void limit_wait(Context& context, const store::Row& row) {
    const auto& timeouts = context.options.response_timeout;
    const bool is_share = row.kind == Kind::share;
    const Milliseconds longest =
        row.status != Status::receipt_received
            ? std::max(context.options.readiness_pause, context.options.unreachable_pause.max)
        : is_share
            ? context.options.shares.confirm_pause
            : std::max({timeouts.input_proof, timeouts.public_decrypt, timeouts.user_decrypt});
    const domain::Timestamp latest = context.now.steady + longest;
    if (row.schedule.wake <= latest) return;
    store::Schedule schedule = row.schedule;
    schedule.wake = latest;
    // Counts anew from the next try; a share's is the end of its round.
    if (!is_share) schedule.deadline.reset();
    if (!is_share && row.status == Status::receipt_received) schedule.deadline = latest;
    if (!context.store.reschedule(row, row.status, schedule)) ++context.stale;
}

// What no row tells any more once it stands in its queue again: how many of them were in work.
const std::string in_work_note = "in_work";

void read_in_work(Context& context, Report& report) {
    std::istringstream numbers(context.store.note(in_work_note).value_or(""));
    numbers >> report.processing >> report.queued >> report.shares;
}

void note_in_work(Context& context, const Report& report) {
    const bool is_some = report.processing + report.queued + report.shares > 0;
    if (!is_some) return;
    context.store.keep_note(in_work_note, std::to_string(report.processing) + " " +
                                              std::to_string(report.queued) + " " +
                                              std::to_string(report.shares));
}

void count(Report& report, const store::Row& row) {
    if (row.kind == Kind::share) {
        ++report.shares;
    } else if (row.status == Status::tx_in_flight || sending::was_sealed(row)) {
        ++report.in_flight;
    } else if (row.status == Status::processing) {
        ++report.processing;
    } else {
        ++report.queued;
    }
}

// Nobody refused it while nobody tried: since the last order, or the end of the last pause.
void count_no_absence(const Context& context, store::Schedule& schedule) {
    if (!schedule.refused_since) return;
    const domain::Timestamp tried =
        schedule.wake - (schedule.claims > 0 ? context.options.lease : Milliseconds{0});
    const Milliseconds absence = std::max(context.now.steady - tried, Milliseconds{0});
    schedule.refused_since = std::min(*schedule.refused_since + absence, context.now.steady);
}

void recover_one(Context& context, CrashSuspects& suspects, Report& report, store::Row row,
                 LastEnd last_end) {
    if (last_end == LastEnd::from_outside) {
        row.schedule.claims =
            std::min(row.schedule.claims, CrashSuspects::crashes_max(context, row) - 1);
    }
    if (holds::is_held(context, row.id.sequence)) {
        ++report.waiting;
        holds::set_aside(context, row);
        return;
    }
    if (row.schedule.claims >= CrashSuspects::crashes_max(context, row)) {
        fail(context, row, Status::failure, Cause::internal,
             {domain::Reason::recovered_too_often,
              internal_text(row.kind, "recovered too often"),
              {}});
        ++report.quarantined;
        return;
    }
    const bool pauses =
        row.schedule.claims == 0 && row.status != Status::tx_in_flight && !sending::was_sealed(row);
    if (row.status == Status::receipt_received || pauses) {
        ++report.waiting;
        limit_wait(context, row);
        return;
    }
    count(report, row);
    count_no_absence(context, row.schedule);
    const store::Row after = reset(context, row);
    if (!CrashSuspects::is_one(context, after)) {
        enqueue(context, after);
        return;
    }
    ++report.suspects;
    suspects.add(context, after);
}

}  // namespace

void set_aside(Context& context, const store::Row& row) {
    if (!context.store.reschedule(row, row.status, on_timer(context, row))) ++context.stale;
}

void enqueue(Context& context, const store::Row& row) {
    if (holds::is_held(context, row.id.sequence)) {
        holds::set_aside(context, row);
        return;
    }
    store::Schedule schedule = in_queue(context, row.schedule);
    if (row.kind == Kind::share) {
        schedule.lane = store::Lane::schedule;
        schedule.wake = shares::due_time(context, row);
    } else if (sending::was_sealed(row)) {
        // It passed the gate before.
        schedule.lane = store::Lane::timer;
        schedule.wake = context.now.steady;
    }
    assert(!domain::is_terminal(row.status) && row.status != Status::receipt_received);
    // It passed the gate before, and other suspects wait for it.
    const bool is_suspect = CrashSuspects::is_one(context, row);
    if (!context.store.reschedule(row, row.status, schedule)) {
        ++context.stale;
    } else if (schedule.lane != store::Lane::gate) {
        return;
    } else if (row.status == Status::queued) {
        is_suspect ? context.gates.enqueue_check_again(row) : context.gates.enqueue_check(row);
    } else {
        is_suspect ? context.gates.enqueue_send_again(row) : context.gates.enqueue_send(row);
    }
}

namespace {

// What was signed is looked up by the next start as after a crash, and suspects stay suspects.
void release_one(Context& context, Report& released, store::Row row) {
    if (row.schedule.claims > 0) --row.schedule.claims;
    if (!sending::was_sealed(row) && row.schedule.claims < CrashSuspects::claims_min) {
        count(released, row);
        enqueue(context, reset(context, row));
    } else {
        row.schedule.lane = store::Lane::timer;
        row.schedule.wake = context.now.steady;  // until now it was tried
        if (!context.store.reschedule(row, row.status, row.schedule)) ++context.stale;
    }
}

}  // namespace

bool release(Context& context, std::size_t& released) {
    Report report;
    read_in_work(context, report);
    const auto& entries = context.work.entries();
    for (auto next = std::next(entries.begin(), static_cast<std::ptrdiff_t>(released));
         next != entries.end() && context.has_room(); ++next, ++released) {
        const auto& [id, entry] = *next;
        if (entry.task == Task::rest || entry.task == Task::confirm) continue;
        const std::optional<store::Row> row = context.store.load(id);
        if (row && !domain::is_terminal(row->status)) release_one(context, report, *row);
    }
    note_in_work(context, report);
    return released < entries.size();
}

void forget_in_work(Context& context) {
    if (context.store.note(in_work_note)) context.store.drop_note(in_work_note);
}

std::size_t rebuild_queues(Context& context) {
    context.gates.clear_queues();
    std::vector<store::Row> rows = context.store.standing_in(store::Lane::gate);
    std::stable_partition(rows.begin(), rows.end(), [](const store::Row& row) {
        return row.status != Status::queued && row.schedule.attempts > 0;
    });
    for (const store::Row& row : rows) {
        if (row.status == Status::queued) {
            context.gates.enqueue_check(row);
        } else {
            context.gates.enqueue_send(row);
        }
    }
    const auto [checks, sends] = context.gates.depths();
    // Nothing stands in a line that no row says, and no row is without its place.
    assert(checks.public_decrypt + checks.user_decrypt + sends.input_proof + sends.public_decrypt +
               sends.user_decrypt ==
           rows.size());
    return rows.size();
}

Report run(Context& context, CrashSuspects& suspects, LastEnd last_end,
           const std::function<void()>& progress) {
    assert(context.work.entries().empty() && suspects.size() == 0);
    Report report;
    const auto commit = [&](store::Store::Transaction& transaction) {
        end_broken(context);
        transaction.commit();
        context.is_full = false;
        for (const store::Change& change : context.store.take_changes()) {
            report.changes.push_back(change);
        }
    };
    std::vector<store::Row> rows;
    {
        store::Store::Transaction transaction(context.store);
        read_in_work(context, report);
        rows = context.store.standing_in(store::Lane::timer);
        commit(transaction);
    }
    // The furthest along first, each group in order of acceptance; among suspects those that were
    // there at fewer crashes, so that the guilty one comes late.
    std::stable_sort(rows.begin(), rows.end(), [](const store::Row& a, const store::Row& b) {
        const auto suspicion = [](const store::Row& row) {
            return row.schedule.claims < CrashSuspects::claims_min ? 0 : row.schedule.claims;
        };
        return std::pair{-static_cast<int>(a.status), suspicion(a)} <
               std::pair{-static_cast<int>(b.status), suspicion(b)};
    });
    for (std::size_t next = 0; next < rows.size();) {
        const std::size_t end = std::min(rows.size(), next + rows_per_commit);
        store::Store::Transaction transaction(context.store);
        for (; next < end && context.has_room(); ++next) {
            recover_one(context, suspects, report, rows[next], last_end);
        }
        note_in_work(context, report);
        commit(transaction);
        progress();
    }
    store::Store::Transaction transaction(context.store);
    const std::size_t lined_up = rebuild_queues(context);
    report.has_unsigned =
        lined_up > 0 || std::ranges::any_of(rows, [&](const store::Row& row) {
            return holds::is_unsigned(row) && !holds::is_held(context, row.id.sequence);
        });
    if (report.has_unsigned || !context.accounts_unsettled.empty()) holds::remember_start(context);
    commit(transaction);
    suspects.keep();
    return report;
}

Resume resume(store::Store& store, const Report& report) {
    Resume resume{store.cursors(), {}, store.nonces_included(), holds::known_nonces(store)};
    resume.has_unsigned = report.has_unsigned;
    resume.look_from = holds::look_from(store);
    for (store::Attempt& attempt : store.attempts_in_work()) {
        resume.in_flight.push_back({attempt.nonce, attempt.hash, std::move(attempt.sealed),
                                    attempt.at, std::move(attempt.account)});
    }
    resume.own = store.own_unsettled();
    for (const store::OwnTransaction& own : resume.own) {
        resume.in_flight.push_back({own.nonce, own.hash, {}, own.at, own.account});
    }
    for (store::Attempt& attempt : store.attempts_beside_own()) {
        resume.beside_own.push_back(
            {attempt.nonce, attempt.hash, {}, attempt.at, std::move(attempt.account)});
    }
    return resume;
}

}  // namespace recovery

}  // namespace engine
