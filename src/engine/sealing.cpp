#include "engine/sealing.hpp"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

#include "engine/holds.hpp"

namespace engine::sealing {

using domain::Cause;
using domain::Kind;
using domain::Status;

store::Attempt attempt_of(const Sealed& sealed) {
    store::Attempt attempt{sealed.nonce, sealed.hash, sealed.bytes, {}};
    attempt.account = sealed.account;
    return attempt;
}

namespace {

// False: somebody else was faster.
bool store_sealed(Context& context, const store::Row& row, Sealed sealed) {
    assert(row.status == Status::processing && !context.work.contains(row.id.sequence));
    store::Schedule schedule = in_work(context, row.schedule);
    // Shares start over after a crash, so the count of their crashes must outlive the preparing.
    schedule.claims = row.schedule.claims;
    if (row.kind != Kind::share) {
        schedule.claims = 1;
        ++schedule.attempts;
        schedule.deadline.reset();
        schedule.unreached_since.reset();
    }
    if (!context.store.move(row, {Status::processing, Status::tx_in_flight, Cause::sealed},
                            schedule, context.now.wall)) {
        ++context.stale;
        return false;
    }
    context.store.add_attempt(row.id.sequence, attempt_of(sealed), context.now.wall);
    log_stage(context, row, Status::tx_in_flight,
              " nonce=" + std::to_string(sealed.nonce) + " hash=0x" + domain::to_hex(sealed.hash));
    holds::remember_nonce(context, sealed);
    sealed.at = context.now.wall;
    SendOrder order{row.id, row.kind, {}, false, 0, {}};
    if (row.kind != Kind::share) {
        order.sends_in_any_second_max =
            context.gates.sends_in_any_second_max(domain::family_of(row.kind));
    }
    order.sealed.push_back(std::move(sealed));
    context.work.begin(row.id.sequence, {Task::send, domain::family_of(row.kind)});
    context.effects.sends.push_back(std::move(order));
    return true;
}

bool store_another(Context& context, store::Row row, const Sealed& sealed) {
    assert(row.kind != Kind::share && row.status == Status::tx_in_flight);
    ++row.schedule.attempts;
    row.schedule.faults = 0;
    row.schedule.claims = 0;  // the order was answered
    if (!context.store.reschedule(row, Status::tx_in_flight, in_work(context, row.schedule))) {
        ++context.stale;
        return false;
    }
    context.store.add_attempt(row.id.sequence, attempt_of(sealed), context.now.wall);
    holds::remember_nonce(context, sealed);
    if (auto inclusion = context.store.inclusion(row.id.sequence)) {
        inclusion->hash = sealed.hash;  // it was replaced, and this one goes out from now on
        context.store.include(*inclusion);
    }
    std::vector<store::Attempt> attempts = context.store.attempts(row.id.sequence);
    // The newest is the one whose bytes go out, and the chain knows it by these.
    assert(!attempts.empty() && attempts.back().nonce == sealed.nonce &&
           attempts.back().hash == sealed.hash);
    hand_out(context, row, std::move(attempts), false);
    return true;
}

}  // namespace

void hand_out(Context& context, const store::Row& row, std::vector<store::Attempt> attempts,
              bool look_up_first) {
    assert(row.kind != Kind::share && !attempts.empty());
    SendOrder order{row.id, row.kind, {}, look_up_first, row.schedule.faults, {}};
    order.has_failed = row.status == Status::failure;
    if (row.schedule.refused_since) {
        order.refused_for =
            std::max(context.now.steady - *row.schedule.refused_since, domain::Milliseconds{0});
    }
    for (store::Attempt& attempt : attempts) {
        order.sealed.push_back({attempt.nonce, attempt.hash, std::move(attempt.sealed), attempt.at,
                                std::move(attempt.account)});
    }
    context.work.begin(row.id.sequence, {Task::send, domain::family_of(row.kind)});
    context.effects.sends.push_back(std::move(order));
}

bool fetch(Context& context, const store::Row& row, const Plan& plan) {
    const auto ticket = context.gateway.fetch_seal(row.id, row.kind, plan);
    if (!ticket) return false;
    assert(row.kind != Kind::share);
    context.work.begin(row.id.sequence, {Task::sign, domain::family_of(row.kind), *ticket});
    return true;
}

std::optional<Work::Entry> end(Context& context, const store::Row& row) {
    const auto ticket = context.work.ticket(row.id.sequence);
    if (!ticket) return std::nullopt;
    context.gateway.end_seal(*ticket, false);
    return context.work.end(row.id.sequence, Task::sign);
}

void seal(Context& context, const store::Row& row, const Plan& plan) {
    assert(row.status == Status::processing && !context.work.contains(row.id.sequence));
    if (fetch(context, row, plan)) return;
    static_cast<void>(store_sealed(context, row, context.gateway.seal(row.id, row.kind, plan)));
}

void seal_again(Context& context, const store::Row& row, const Plan& plan) {
    if (fetch(context, row, plan)) return;
    static_cast<void>(store_another(context, row, context.gateway.seal(row.id, row.kind, plan)));
}

bool store_fetched(Context& context, const store::Row& row, Sealed sealed) {
    return row.status == Status::tx_in_flight ? store_another(context, row, sealed)
                                              : store_sealed(context, row, std::move(sealed));
}

}  // namespace engine::sealing
