#include "engine/confirmations.hpp"

#include <algorithm>
#include <cassert>

#include "engine/share_log.hpp"
#include "engine/shares.hpp"

namespace engine::confirmations {

using domain::Cause;
using domain::Family;
using domain::Milliseconds;
using domain::Status;

namespace {

// A block takes seconds; what no block has after this time is gone. Sooner in a round that is about
// to end, so that there is time for another proof.
constexpr Milliseconds patience_min{20'000};
constexpr Milliseconds patience_max{60'000};
// The last look of a round: what came with its last blocks is no false alarm then.
constexpr Milliseconds last_look{2'000};
// And so many where that fell into a stop.
constexpr std::uint32_t late_looks{3};
// Of look-ups that find no room: after an outage of whoever is asked all shares are due at once.
constexpr Milliseconds spacing{50};

Milliseconds patience(const store::Row& row) {
    if (!row.schedule.deadline) return patience_max;
    return std::clamp((*row.schedule.deadline - row.since) / 4, patience_min, patience_max);
}

// Whether its round was over at the start, or so soon after it that nobody may have looked before.
bool has_late_looks(const Context& context, const store::Row& row) {
    return row.schedule.deadline && row.since < context.began &&
           *row.schedule.deadline < context.began + patience_min &&
           row.schedule.faults < late_looks;
}

// Looks again after `pause`, shortly before the end of the round, and at its end, whichever is
// first. The round ends by the wall clock, which may differ.
store::Schedule waiting(const Context& context, const store::Row& row, Milliseconds pause) {
    store::Schedule schedule = row.schedule;
    schedule.lane = store::Lane::timer;
    schedule.claims = 0;
    if (schedule.deadline) {
        const Milliseconds left = *schedule.deadline - context.now.wall;
        if (left > last_look) pause = std::min(pause, left - last_look);
        if (!has_late_looks(context, row)) {
            pause = std::min(pause, std::max(left + shares::last_second, Milliseconds{0}));
        }
    }
    schedule.wake = context.now.steady + pause;
    return schedule;
}

void wait(Context& context, const store::Row& row, Milliseconds pause, bool is_look = false) {
    store::Schedule schedule = waiting(context, row, pause);
    if (is_look && has_late_looks(context, row)) ++schedule.faults;
    if (!context.store.reschedule(row, Status::receipt_received, schedule)) ++context.stale;
}

// The next free moment, behind all that were given out before.
Milliseconds next_turn(Context& context) {
    context.next_confirm = std::max(context.next_confirm, context.now.monotonic) + spacing;
    return std::chrono::ceil<Milliseconds>(context.next_confirm - context.now.monotonic);
}

void complete(Context& context, const store::Row& row) {
    if (!context.store.complete(row, std::nullopt, context.now.wall)) ++context.stale;
}

void look_up(Context& context, const store::Row& row) {
    const Milliseconds pause = context.options.shares.confirm_pause;
    const bool is_asked = context.work.contains(row.id.sequence);
    if (is_asked || context.stopping) return wait(context, row, pause, is_asked);
    if (context.gates.free_confirms() == 0 || context.now.monotonic < context.confirms_held_until) {
        const auto held = std::chrono::ceil<Milliseconds>(
            std::max(context.confirms_held_until - context.now.monotonic, domain::Nanoseconds{0}));
        return wait(context, row, held + next_turn(context));
    }
    std::vector<store::Attempt> attempts = context.store.attempts(row.id.sequence);
    if (attempts.empty()) {
        // Nobody can tell any more what it is known by.
        return fail(context, row, Status::failure, Cause::internal,
                    {domain::Reason::undecodable, "The stored message can not be read", {}});
    }
    wait(context, row, pause, true);
    context.gates.take_confirm();
    context.work.begin(row.id.sequence, {Task::confirm, Family::share});
    store::Attempt& taken = attempts.back();
    context.effects.confirms.push_back(
        {row.id, row.since, {taken.nonce, taken.hash, std::move(taken.sealed), taken.at}});
}

void note_unreachable(Context& context, const Unreachable& unreachable) {
    context.confirms_held_until =
        std::max(context.confirms_held_until, context.now.monotonic + unreachable.hold);
    if (std::exchange(context.confirms_fail, true)) return;
    shares::note_unconfirmable(context, unreachable.reason);
}

void lose(Context& context, const store::Row& row) {
    store::Schedule schedule = row.schedule;
    schedule.lane = store::Lane::schedule;
    schedule.wake = std::max(context.now.wall, shares::due_time(context, row));
    schedule.claims = 0;
    schedule.faults = 0;
    if (!context.store.move(row, {Status::receipt_received, Status::queued, Cause::lost}, schedule,
                            context.now.wall)) {
        ++context.stale;
        return;
    }
    shares::note_lost(context, row);
}

}  // namespace

void begin(Context& context, const store::Row& row, const domain::ShareRevealed& revealed) {
    assert(row.kind == domain::Kind::share && row.status == Status::tx_in_flight);
    const Milliseconds age = context.options.shares.confirm_after;
    if (!context.store.receive(row, std::nullopt, waiting(context, row, age), context.now.wall)) {
        ++context.stale;
        return;
    }
    const domain::Result result = revealed;
    context.store.keep_result(row.id.sequence, domain::encode(result));
}

void wake(Context& context, const store::Row& row) {
    assert(row.kind == domain::Kind::share && row.status == Status::receipt_received);
    if (!context.options.shares.confirm_reveals) {
        complete(context, row);
    } else if (shares::is_over(context, row) && !has_late_looks(context, row)) {
        fail(context, row, Status::timed_out, Cause::expired,
             {domain::Reason::round_over,
              "The round was over before the share was seen on the chain",
              {}});
    } else {
        look_up(context, row);
    }
}

void apply(Context& context, const Confirmed& event) {
    if (const auto entry = context.work.end(event.id.sequence, Task::confirm)) {
        context.gates.give_back_confirm();
    }
    const auto* const unreachable = std::get_if<Unreachable>(&event.answer);
    if (unreachable != nullptr) return note_unreachable(context, *unreachable);
    context.confirms_fail = false;
    const std::optional<store::Row> row = context.store.load(event.id.sequence);
    const bool waits = row && row->kind == domain::Kind::share &&
                       row->status == Status::receipt_received && row->since == event.since;
    if (!waits) {
        ++context.stale;
    } else if (std::holds_alternative<Revealed>(event.answer)) {
        complete(context, *row);
    } else if (context.now.wall - row->since >= patience(*row) && !shares::is_over(context, *row) &&
               !context.stopping) {
        lose(context, *row);
    }
}

}  // namespace engine::confirmations
