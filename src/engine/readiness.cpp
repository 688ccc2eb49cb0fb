#include "engine/readiness.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <string>

#include "engine/holds.hpp"
#include "engine/sending.hpp"

namespace engine::readiness {

using domain::Cause;
using domain::Family;
using domain::Reason;
using domain::Status;

namespace {

domain::Milliseconds timeout(const Context& context, Family family) {
    return family == Family::public_decrypt ? context.options.readiness_timeout.public_decrypt
                                            : context.options.readiness_timeout.user_decrypt;
}

bool is_overdue(const Context& context, const store::Row& row) {
    return row.schedule.deadline && context.now.steady >= *row.schedule.deadline &&
           !context.gates.is_paused(domain::family_of(row.kind));
}

void time_out(Context& context, const store::Row& row) {
    fail(context, row, Status::timed_out, Cause::expired,
         {Reason::readiness_timed_out,
          "Ciphertext not ready for decryption on the gateway chain",
          {}});
}

domain::Failure unanswered(const std::string& unreachable) {
    return {
        Reason::readiness_failed, "Processing Failed: Contract call failed: " + unreachable, {}};
}

void pause(Context& context, const store::Row& row, domain::Milliseconds length) {
    if (!context.store.reschedule(row, Status::queued, pausing(context, row.schedule, length))) {
        ++context.stale;
    }
}

// The last try decides whether the request timed out or failed (evm-gateway 7.3).
void not_ready(Context& context, store::Row row, const NotReady& outcome) {
    assert(row.status == Status::queued);
    ++row.schedule.attempts;
    row.schedule.faults = 0;
    row.schedule.unreached_since.reset();
    const bool last = row.schedule.attempts >= context.options.readiness_attempts_max;
    if (!last && !is_overdue(context, row)) {
        pause(context, row, context.options.readiness_pause);
    } else if (outcome.verdict) {
        fail(context, row, Status::failure, Cause::refused, *outcome.verdict);
    } else {
        time_out(context, row);
    }
}

void unreachable(Context& context, store::Row row, const Unreachable& unreachable) {
    assert(row.status == Status::queued);
    ++row.schedule.faults;
    note_trouble(context, row, unreachable.reason);
    if (unreachable.hold > domain::Milliseconds::zero()) {
        context.gates.hold_checks(context.now.monotonic + unreachable.hold);
    }
    keep_since(row.schedule.unreached_since, unreachable.unreached, context.now.steady);
    const bool last = unreachable.tries_max != 0 && row.schedule.faults >= unreachable.tries_max;
    if (auto failure = unreached_for_too_long(context, row, unreachable.reason)) {
        fail(context, row, Status::failure, Cause::refused, *std::move(failure));
    } else if (last || is_overdue(context, row)) {
        fail(context, row, Status::failure, Cause::refused,
             unreachable.verdict.value_or(unanswered(unreachable.reason)));
    } else {
        pause(context, row,
              std::max(context.options.unreachable_pause.pause(row.schedule.faults),
                       unreachable.hold));
    }
}

// The deadline fell into a pause.
void overdue(Context& context, const store::Row& row) {
    if (row.schedule.faults == 0) {
        time_out(context, row);
    } else {
        fail(context, row, Status::failure, Cause::refused, unanswered("gateway not reachable"));
    }
}

void start_one(Context& context, Family family, Gates::Id id) {
    assert(!context.work.contains(id));
    std::optional<store::Row> row = context.store.load(id);
    RequestPtr request;
    if (row && row->status == Status::queued) request = load_request(context, *row);
    if (!request) {
        context.gates.give_back_check(family);
        return;
    }
    if (!row->schedule.deadline) {
        row->schedule.deadline = context.now.steady + timeout(context, family);
    }
    if (!context.store.reschedule(*row, Status::queued, in_work(context, row->schedule))) {
        context.gates.give_back_check(family);
        ++context.stale;
        return;
    }
    context.work.begin(id, {Task::check, family});
    context.effects.checks.push_back({row->id, std::move(request)});
}

}  // namespace

void start(Context& context) {
    for (const Family family : {Family::public_decrypt, Family::user_decrypt}) {
        while (context.has_room()) {
            const auto id = context.gates.pass_check(family, context.now.monotonic);
            if (!id) break;
            start_one(context, family, *id);
        }
    }
}

void apply(Context& context, const Checked& event) {
    if (const auto entry = context.work.end(event.id.sequence, Task::check)) {
        assert(entry->family != Family::share && entry->family != Family::input_proof);
        context.gates.give_back_check(entry->family);
    }
    const std::optional<store::Row> row = context.store.load(event.id.sequence);
    if (!row || row->status != Status::queued || !domain::is_decrypt(row->kind)) {
        ++context.stale;
        return;
    }
    context.effects.settled.push_back(row->id.sequence);
    context.gates.leave(row->id.sequence, domain::family_of(row->kind));
    if (holds::is_held(context, row->id.sequence)) {
        holds::set_aside(context, *row);
    } else if (std::holds_alternative<Ready>(event.outcome)) {
        sending::enter(context, *row);
    } else if (const auto* not_yet = std::get_if<NotReady>(&event.outcome)) {
        not_ready(context, *row, *not_yet);
    } else if (const auto* rejected = std::get_if<Rejected>(&event.outcome)) {
        fail(context, *row, Status::failure, Cause::refused, rejected->failure);
    } else {
        unreachable(context, *row, std::get<Unreachable>(event.outcome));
    }
}

void wake(Context& context, const store::Row& row) {
    if (const auto entry = context.work.end(row.id.sequence, Task::check)) {
        context.gates.give_back_check(entry->family);
        unreachable(context, row, unreached("no answer"));
    } else if (auto failure = tried_for_too_long(context, row)) {
        fail(context, row, Status::failure, Cause::refused, *std::move(failure));
    } else if (is_overdue(context, row) && *row.schedule.deadline > context.began) {
        overdue(context, row);
    } else if (context.store.reschedule(row, Status::queued, in_queue(context, row.schedule))) {
        context.gates.enqueue_check(row);
    }
}

}  // namespace engine::readiness
