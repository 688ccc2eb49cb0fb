#include "engine/sending.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <string>
#include <utility>

#include "engine/answers.hpp"
#include "engine/holds.hpp"
#include "engine/reorganisations.hpp"
#include "engine/sealing.hpp"
#include "engine/shares.hpp"

namespace engine::sending {

using domain::Cause;
using domain::Family;
using domain::Kind;
using domain::Reason;
using domain::Status;

namespace {

// A step stays short even with the rate unlimited.
constexpr int starts_per_step = 1'536;

// What a block had goes out again, not what was signed after it.
void put_included_last(Context& context, const store::Row& row,
                       std::vector<store::Attempt>& attempts) {
    const std::optional<store::Inclusion> inclusion = context.store.inclusion(row.id.sequence);
    if (!inclusion) return;
    const auto had = std::ranges::find(attempts, inclusion->hash, &store::Attempt::hash);
    if (had != attempts.end()) std::rotate(had, had + 1, attempts.end());
}

bool start_preparing(Context& context, const store::Row& row) {
    assert(!was_sealed(row));
    RequestPtr request = load_request(context, row);
    if (!request) return false;
    if (!context.store.reschedule(row, Status::processing, in_work(context, row.schedule))) {
        return false;
    }
    context.work.begin(row.id.sequence, {Task::prepare, domain::family_of(row.kind)});
    context.effects.prepares.push_back({row.id, std::move(request)});
    return true;
}

// The same bytes once more, after everything that was signed is looked up.
bool resend(Context& context, const store::Row& row) {
    assert(was_sealed(row));
    std::vector<store::Attempt> attempts = context.store.attempts(row.id.sequence);
    if (attempts.empty()) {
        // What was signed is gone, and nobody can tell what became of it.
        fail(context, row, Status::failure, Cause::internal,
             {Reason::undecodable,
              internal_text(row.kind, "The stored transactions can not be read"),
              {}});
        return false;
    }
    const store::Schedule schedule = in_work(context, row.schedule);
    const bool begun =
        row.status == Status::processing
            ? context.store.move(row, {Status::processing, Status::tx_in_flight, Cause::sealed},
                                 schedule, context.now.wall)
            : context.store.reschedule(row, Status::tx_in_flight, schedule);
    put_included_last(context, row, attempts);
    if (begun) sealing::hand_out(context, row, std::move(attempts), true);
    return begun;
}

bool start_one(Context& context, const store::Row& row) {
    const bool in_send_stage =
        row.status == Status::processing || row.status == Status::tx_in_flight;
    if (!in_send_stage) return false;
    return was_sealed(row) ? resend(context, row) : start_preparing(context, row);
}

domain::Milliseconds pause_after(Context& context, const store::Row& row,
                                 const Unreachable& unreachable) {
    if (unreachable.hold > domain::Milliseconds::zero() && unreachable.holds_others) {
        context.gates.hold_sending(context.now.monotonic + unreachable.hold);
    }
    return std::max(context.options.unreachable_pause.pause(row.schedule.faults), unreachable.hold);
}

// Trouble on the way before anything was signed: until the deadline it costs only time.
void unprepared(Context& context, store::Row row, const Unreachable& unreachable) {
    ++row.schedule.faults;
    note_trouble(context, row, unreachable.reason);
    if (!row.schedule.deadline) {
        row.schedule.deadline = context.now.steady + context.options.sending_timeout;
    }
    keep_since(row.schedule.unreached_since, unreachable.unreached, context.now.steady);
    if (auto failure = unreached_for_too_long(context, row, unreachable.reason)) {
        fail(context, row, Status::failure, Cause::transaction, *std::move(failure));
        return;
    }
    const bool last = unreachable.tries_max != 0 && row.schedule.faults >= unreachable.tries_max;
    const bool overdue = context.now.steady >= *row.schedule.deadline &&
                         !context.gates.is_paused(domain::family_of(row.kind));
    if (last || overdue) {
        fail(context, row, Status::failure, Cause::transaction,
             unreachable.verdict.value_or(
                 domain::Failure{Reason::send_failed,
                                 "Transaction failed: Gas estimation failed after " +
                                     std::to_string(row.schedule.faults) + " retries",
                                 {}}));
        return;
    }
    store::Schedule schedule =
        pausing(context, row.schedule, pause_after(context, row, unreachable));
    if (unreachable.untouched && row.schedule.claims > 0) {
        schedule.claims = row.schedule.claims - 1;  // this order's
    }
    if (!context.store.reschedule(row, Status::processing, schedule)) ++context.stale;
}

// The outcome is unknown: no deadline, only the chain can tell. The place in flight stays taken,
// so that what is signed and not settled never grows beyond the limit.
void rest(Context& context, store::Row row, const Unreachable& unreachable) {
    assert(row.kind != Kind::share && row.status == Status::tx_in_flight);
    ++row.schedule.faults;
    note_trouble(context, row, unreachable.reason);
    row.schedule.deadline.reset();
    const auto pause =
        std::max(std::min(pause_after(context, row, unreachable), context.options.sealed_pause_max),
                 unreachable.hold);
    if (!context.store.reschedule(row, Status::tx_in_flight,
                                  pausing(context, row.schedule, pause))) {
        ++context.stale;
    }
    context.work.begin(row.id.sequence, {Task::rest, domain::family_of(row.kind)});
}

void received(Context& context, const store::Row& row, const Receipt& receipt) {
    assert(row.kind != Kind::share && row.status == Status::tx_in_flight);
    if (!receipt.reference) {
        fail(context, row, Status::failure, Cause::internal,
             {Reason::internal_error,
              internal_text(row.kind, "The receipt holds no event of the request"),
              {}});
        return;
    }
    store::Schedule schedule;
    schedule.lane = store::Lane::timer;
    schedule.deadline = context.now.steady + answers::timeout(context, domain::family_of(row.kind));
    schedule.wake = *schedule.deadline;
    if (!context.store.receive(row, receipt.reference, schedule, context.now.wall)) {
        ++context.stale;
        return;
    }
    log_stage(context, row, Status::receipt_received, " hash=0x" + domain::to_hex(receipt.hash));
    answers::join(context, *receipt.reference);
}

void give_back(Context& context, Family family) {
    if (family == Family::share) {
        context.gates.give_back_share_slot();
    } else {
        context.gates.give_back_sending();
    }
}

// Before it has a nonce, behind which others would wait.
void fail_as_too_large(Context& context, const store::Row& row, std::size_t bytes) {
    fail(context, row, Status::failure, Cause::internal,
         {Reason::internal_error,
          internal_text(row.kind,
                        "The transaction has " + std::to_string(bytes) + " bytes; at most " +
                            std::to_string(context.store.value_bytes_max()) + " can be stored"),
          {}});
}

// What came back of a send; `entry`: what it occupied.
void settle(Context& context, const store::Row& row, const SendOutcome& outcome,
            const std::optional<Work::Entry>& entry) {
    assert(row.status == Status::tx_in_flight && !context.work.contains(row.id.sequence));
    assert(!std::holds_alternative<Reseal>(outcome));
    const auto* unreachable = std::get_if<Unreachable>(&outcome);
    const auto* receipt = std::get_if<Receipt>(&outcome);
    const Family family = domain::family_of(row.kind);
    context.effects.settled.push_back(row.id.sequence);
    context.gates.leave(row.id.sequence, family);
    if (unreachable != nullptr) context.effects.unreachable.push_back(family);
    if (unreachable != nullptr && row.kind != Kind::share) {
        if (!entry) context.gates.take_sending();
        rest(context, row, *unreachable);
        return;
    }
    if (entry) give_back(context, entry->family);
    if (row.kind == Kind::share) {
        if (receipt != nullptr) {
            shares::revealed(context, row, *receipt);
        } else if (unreachable != nullptr) {
            shares::chain_unreachable(context, row, *unreachable);
        } else {
            shares::attempt_failed(context, row, std::get<Rejected>(outcome).failure);
        }
    } else if (receipt != nullptr) {
        received(context, row, *receipt);
    } else {
        fail(context, row, Status::failure, Cause::transaction,
             std::get<Rejected>(outcome).failure);
    }
}

// The end of a signature for an ended request.
void signed_for_repair(Context& context, const store::Row& row, const Signed& event,
                       const Work::Entry& entry) {
    give_back(context, entry.family);
    if (const auto* sealed = std::get_if<Sealed>(&event.outcome)) {
        reorganisations::signed_again(context, row, *sealed);
        context.gateway.end_seal(event.ticket, true);
    } else {
        reorganisations::repair_later(context, row, std::get<Unreachable>(event.outcome));
    }
}

// Its time to be looked up and sent again has come, or nobody answered for it.
void wake_sealed(Context& context, const store::Row& row) {
    assert(was_sealed(row));
    if (context.work.end(row.id.sequence, Task::send) || sealing::end(context, row)) {
        rest(context, row, {"no answer"});
        return;
    }
    const domain::Nanoseconds held = context.gates.sends_held_until() - context.now.monotonic;
    if (context.stopping || held > domain::Nanoseconds::zero()) {
        const auto pause = context.stopping ? context.options.sealed_pause_max
                                            : std::chrono::ceil<domain::Milliseconds>(held);
        store::Schedule schedule = pausing(context, row.schedule, pause);
        schedule.claims = row.schedule.claims;  // nothing was tried
        if (!context.store.reschedule(row, row.status, schedule)) ++context.stale;
        return;
    }
    if (!context.work.end(row.id.sequence, Task::rest)) context.gates.take_sending();
    if (!resend(context, row)) {
        context.gates.give_back_sending();
        ++context.stale;
    }
}

}  // namespace

bool was_sealed(const store::Row& row) {
    const bool in_send_stage =
        row.status == Status::processing || row.status == Status::tx_in_flight;
    return row.kind != Kind::share && in_send_stage && row.schedule.attempts > 0;
}

void enter(Context& context, const store::Row& row) {
    assert(domain::is_decrypt(row.kind) && row.status == Status::queued);
    const Family family = domain::family_of(row.kind);
    context.gates.leave(row.id.sequence, family);
    if (!context.store.move(row, {Status::queued, Status::processing, Cause::claimed},
                            in_queue(context, {}), context.now.wall)) {
        ++context.stale;
        return;
    }
    log_stage(context, row, Status::processing);
    store::Row entered = row;
    entered.status = Status::processing;
    context.gates.enqueue_send(entered);
}

// The families take turns: where places in flight are scarce, none takes all of them.
void start(Context& context) {
    constexpr std::array families{Family::public_decrypt, Family::user_decrypt,
                                  Family::input_proof};
    std::size_t idle = 0;
    for (int started = 0;
         idle < families.size() && started < starts_per_step && context.has_room();) {
        const Family family = families[context.turn++ % families.size()];
        const auto id = context.gates.pass_sending(family, context.now.monotonic);
        if (!id) {
            ++idle;
            continue;
        }
        idle = 0;
        ++started;
        const std::optional<store::Row> row = context.store.load(*id);
        if (!row || !start_one(context, *row)) context.gates.give_back_sending();
    }
}

void apply(Context& context, const Prepared& event) {
    const auto entry = context.work.end(event.id.sequence, Task::prepare);
    const std::optional<store::Row> row = context.store.load(event.id.sequence);
    if (!entry || !row || row->status != Status::processing) {
        if (entry) give_back(context, entry->family);
        ++context.stale;
        return;
    }
    if (holds::is_held(context, row->id.sequence)) {
        context.effects.settled.push_back(row->id.sequence);
        give_back(context, entry->family);
        holds::set_aside(context, *row);
        return;
    }
    if (const auto* plan = std::get_if<Plan>(&event.outcome)) {
        if (row->kind == Kind::share && shares::is_early(context, *row)) {
            context.effects.settled.push_back(row->id.sequence);
            give_back(context, entry->family);
            shares::put_back(context, *row);
        } else if (plan->bytes.size() > context.store.value_bytes_max()) {
            give_back(context, entry->family);
            fail_as_too_large(context, *row, plan->bytes.size());
        } else {
            sealing::seal(context, *row, *plan);
        }
        return;
    }
    const auto* unreachable = std::get_if<Unreachable>(&event.outcome);
    const bool was_tried = unreachable == nullptr || !unreachable->untouched;
    if (was_tried) context.effects.settled.push_back(row->id.sequence);
    give_back(context, entry->family);
    const auto* rejected = std::get_if<Rejected>(&event.outcome);
    if (row->kind == Kind::share) {
        if (rejected != nullptr) {
            shares::attempt_failed(context, *row, rejected->failure);
        } else {
            context.effects.unreachable.push_back(domain::family_of(row->kind));
            shares::chain_unreachable(context, *row, *unreachable);
        }
    } else if (rejected != nullptr) {
        fail(context, *row, Status::failure, Cause::transaction, rejected->failure);
    } else {
        context.effects.unreachable.push_back(domain::family_of(row->kind));
        unprepared(context, *row, *unreachable);
    }
}

void apply(Context& context, const Signed& event) {
    const std::optional<store::Row> row = context.store.load(event.id.sequence);
    const bool expected = context.work.ticket(event.id.sequence) == event.ticket;
    const auto entry =
        expected ? context.work.end(event.id.sequence, Task::sign) : std::optional<Work::Entry>{};
    if (entry && row && context.repairs.contains(event.id.sequence)) {
        signed_for_repair(context, *row, event, *entry);
        return;
    }
    const bool in_flight = row && row->status == Status::tx_in_flight;
    if (!entry || !row || (row->status != Status::processing && !in_flight)) {
        if (entry) give_back(context, entry->family);
        context.gateway.end_seal(event.ticket, false);
        ++context.stale;
        return;
    }
    if (holds::is_held(context, row->id.sequence)) {
        context.gateway.end_seal(event.ticket, false);
        give_back(context, entry->family);
        holds::set_aside(context, *row);
        return;
    }
    if (const auto* sealed = std::get_if<Sealed>(&event.outcome)) {
        context.gateway.end_seal(event.ticket, sealing::store_fetched(context, *row, *sealed));
        return;
    }
    const auto& unreachable = std::get<Unreachable>(event.outcome);
    context.effects.settled.push_back(row->id.sequence);
    context.effects.unreachable.push_back(entry->family);
    if (in_flight) {
        rest(context, *row, unreachable);
    } else {
        give_back(context, entry->family);
        unprepared(context, *row, unreachable);
    }
}

void apply(Context& context, const Sent& event) {
    std::optional<store::Row> row = context.store.load(event.id.sequence);
    const bool in_flight = row && row->status == Status::tx_in_flight;
    if (in_flight && event.refused) {
        keep_since(row->schedule.refused_since, *event.refused, context.now.steady);
    }
    if (row && context.repairs.contains(event.id.sequence)) {
        if (const auto entry = context.work.end(event.id.sequence, Task::send)) {
            give_back(context, entry->family);
            reorganisations::sent_again(context, *row, event);
            return;
        }
    }
    const auto* reseal = std::get_if<Reseal>(&event.outcome);
    if (reseal != nullptr && in_flight && reseal->sealed != row->schedule.attempts) {
        ++context.stale;
        return;
    }
    auto entry = context.work.end(event.id.sequence, Task::send);
    if (reseal != nullptr) {
        if (entry && in_flight && reseal->another_nonce && holds::is_unsettled(context, *row)) {
            settle(context, *row, Unreachable{"looking whether the chain is ahead"}, entry);
        } else if (entry && in_flight && reseal->another_nonce &&
                   !holds::may_take_another_nonce(context, *row)) {
            give_back(context, entry->family);
            context.effects.settled.push_back(row->id.sequence);
            holds::hold(context, *row);
            holds::tell(context);
        } else if (entry && in_flight) {
            sealing::seal_again(context, *row, reseal->plan);
        } else {
            if (entry) give_back(context, entry->family);
            ++context.stale;
        }
        return;
    }
    // An answer that comes after its lease is as good as any.
    if (!entry) entry = context.work.end(event.id.sequence, Task::rest);
    if (!entry && in_flight) entry = sealing::end(context, *row);
    if (in_flight && row->kind != Kind::share) {
        reorganisations::note_inclusion(context, *row, event);
    }
    if (!in_flight) {
        if (entry) give_back(context, entry->family);
        ++context.stale;
        return;
    }
    settle(context, *row, event.outcome, entry);
}

bool send_again(Context& context, const store::Row& row) {
    assert(domain::is_terminal(row.status));
    std::vector<store::Attempt> attempts = context.store.attempts(row.id.sequence);
    if (attempts.empty()) return false;
    put_included_last(context, row, attempts);
    sealing::hand_out(context, row, std::move(attempts), true);
    return true;
}

void wake(Context& context, const store::Row& row) {
    const Family family = domain::family_of(row.kind);
    if (row.kind == Kind::share) {
        const Task task = row.status == Status::processing ? Task::prepare : Task::send;
        if (context.work.end(row.id.sequence, task)) give_back(context, family);
        shares::chain_unreachable(context, row, {"no answer"});
    } else if (was_sealed(row)) {
        wake_sealed(context, row);
    } else if (context.work.end(row.id.sequence, Task::prepare) || sealing::end(context, row)) {
        give_back(context, family);
        unprepared(context, row, unreached("no answer"));
    } else if (auto failure = tried_for_too_long(context, row)) {
        fail(context, row, Status::failure, Cause::transaction, *std::move(failure));
    } else if (context.store.reschedule(row, row.status, in_queue(context, row.schedule))) {
        context.gates.enqueue_send_again(row);
    }
}

}  // namespace engine::sending
