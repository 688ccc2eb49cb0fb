#include "engine/readiness.hpp"

#include <array>
#include <string>

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
    return row.schedule.deadline && context.now.steady >= *row.schedule.deadline;
}

// A clean run of "not ready" times out; trouble on the way makes it a failure (relayer-api 4.3).
void give_up(Context& context, const store::Row& row, const std::string& trouble) {
    if (row.schedule.faults == 0) {
        fail(context, row, Status::timed_out, Cause::expired,
             {Reason::readiness_timed_out,
              "Ciphertext not ready for decryption on the gateway chain",
              {}});
    } else {
        fail(context, row, Status::failure, Cause::refused,
             {Reason::readiness_failed,
              "Processing Failed: Contract call failed: " +
                  (trouble.empty() ? "gateway not reachable" : trouble),
              {}});
    }
}

void pause(Context& context, const store::Row& row, domain::Milliseconds length) {
    if (!context.store.reschedule(row, Status::queued, pausing(context, row.schedule, length))) {
        ++context.stale;
    }
}

void not_ready(Context& context, store::Row row) {
    ++row.schedule.attempts;
    if (row.schedule.attempts >= context.options.readiness_attempts_max ||
        is_overdue(context, row)) {
        give_up(context, row, {});
    } else {
        pause(context, row, context.options.readiness_pause);
    }
}

void unreachable(Context& context, store::Row row, const std::string& reason) {
    ++row.schedule.faults;
    if (is_overdue(context, row)) {
        give_up(context, row, reason);
    } else {
        pause(context, row, context.options.trouble_pause.pause(row.schedule.faults));
    }
}

void start_one(Context& context, Family family, Gates::Id id) {
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
        while (const std::optional<Gates::Id> id = context.gates.pass_check(family)) {
            start_one(context, family, *id);
        }
    }
}

void apply(Context& context, const Checked& event) {
    if (const auto entry = context.work.end(event.id.sequence, Task::check)) {
        context.gates.give_back_check(entry->family);
    }
    const std::optional<store::Row> row = context.store.load(event.id.sequence);
    if (!row || row->status != Status::queued || !domain::is_decrypt(row->kind)) {
        ++context.stale;
        return;
    }
    context.effects.settled.push_back(row->id.sequence);
    context.gates.leave(row->id.sequence, domain::family_of(row->kind));
    if (std::holds_alternative<Ready>(event.outcome)) {
        sending::enter(context, *row);
    } else if (std::holds_alternative<NotReady>(event.outcome)) {
        not_ready(context, *row);
    } else if (const auto* rejected = std::get_if<Rejected>(&event.outcome)) {
        fail(context, *row, Status::failure, Cause::refused, rejected->failure);
    } else {
        unreachable(context, *row, std::get<Unreachable>(event.outcome).reason);
    }
}

void wake(Context& context, const store::Row& row) {
    if (const auto entry = context.work.end(row.id.sequence, Task::check)) {
        context.gates.give_back_check(entry->family);
        unreachable(context, row, "no answer");
    } else if (is_overdue(context, row)) {
        give_up(context, row, {});
    } else if (context.store.reschedule(row, Status::queued, in_line(context, row.schedule))) {
        context.gates.line_up_for_check(row);
    }
}

}  // namespace engine::readiness
