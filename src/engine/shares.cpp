#include "engine/shares.hpp"

#include <algorithm>
#include <cassert>

#include "engine/confirmations.hpp"
#include "engine/request_ids.hpp"
#include "engine/rounds.hpp"
#include "engine/share_log.hpp"

namespace engine::shares {

using domain::Cause;
using domain::Family;
using domain::Reason;
using domain::Status;

namespace {

constexpr std::size_t rows_per_step = 512;
constexpr domain::Milliseconds unreachable_bound_min{1'000};
constexpr domain::Milliseconds unreachable_bound_max{60'000};
constexpr domain::Milliseconds late_after{60'000};
constexpr domain::Milliseconds late_pause{std::chrono::hours{1}};

void time_out(Context& context, const store::Row& row) {
    fail(context, row, Status::timed_out, Cause::expired,
         {Reason::round_over, "The round was over before the share was revealed", {}});
}

domain::Timestamp second_of(const domain::VoteShare& share) {
    return domain::Timestamp{std::chrono::seconds{static_cast<std::int64_t>(share.submit_at)}};
}

// Not before it came: a wallet may name a time that has passed.
void note_begun(Context& context, const store::Row& row, const domain::VoteShare& share) {
    const auto came = std::min(context.now.wall, RequestIds::given_out(row.id));
    context.begun_shares.add(row.id.sequence, row.round, std::max(second_of(share), came));
}

// Whether this try is the share's first. Of those the chain lost only the message tells.
bool is_first_try(Context& context, const store::Row& row) {
    const store::Schedule& before = row.schedule;
    return before.attempts == 0 && before.faults == 0 && before.claims == 0 &&
           (!context.options.shares.confirm_reveals ||
            context.store.attempts(row.id.sequence).empty());
}

// True: begun for the first time.
bool start_one(Context& context, const store::Row& row) {
    assert(row.kind == domain::Kind::share && row.status == Status::queued);
    assert(row.schedule.wake <= context.now.wall && !is_over(context, row));
    RequestPtr request = load_request(context, row);
    if (!request) return false;
    const bool is_first = is_first_try(context, row);
    if (!context.store.move(row, {Status::queued, Status::processing, Cause::claimed},
                            in_work(context, row.schedule), context.now.wall)) {
        ++context.stale;
        return false;
    }
    note_begun(context, row, std::get<domain::VoteShare>(*request));
    context.effects.woken.push_back({store::Lane::schedule, context.now.wall - row.schedule.wake});
    context.gates.take_share_slot();
    context.work.begin(row.id.sequence, {Task::prepare, Family::share});
    context.effects.prepares.push_back({row.id, std::move(request)});
    return is_first;
}

// Whoever asks us to wait does not know when the round ends: a tenth of what is left of it, so that
// there are more tries.
domain::Milliseconds bounded(const Context& context, const store::Row& row,
                             domain::Milliseconds pause) {
    if (!row.schedule.deadline) return pause;
    const domain::Milliseconds left = *row.schedule.deadline - context.now.wall;
    return std::min(pause, std::clamp(left / 10, unreachable_bound_min, unreachable_bound_max));
}

void back_to_queue(Context& context, const store::Row& row, domain::Timestamp wake) {
    // What ran has given its slot back.
    assert(row.kind == domain::Kind::share && !context.work.contains(row.id.sequence));
    store::Schedule schedule = row.schedule;
    schedule.lane = store::Lane::schedule;
    // Not before its second either, should the clock have been set back meanwhile.
    schedule.wake = std::max(wake, due_time(context, row));
    if (schedule.deadline) {
        schedule.wake = std::min(schedule.wake, *schedule.deadline + last_second);
    }
    schedule.claims = 0;
    if (!context.store.move(row, {row.status, Status::queued, Cause::retried}, schedule,
                            context.now.wall)) {
        ++context.stale;
    }
}

}  // namespace

bool is_over(const Context& context, const store::Row& row) {
    return row.schedule.deadline && context.now.wall >= *row.schedule.deadline + last_second;
}

domain::Timestamp due_time(Context& context, const store::Row& row) {
    const std::optional<domain::VoteShare> share = stored_share(context, row);
    if (!share) return {};
    if (share->submit_at == 0) return std::min(context.now.wall, RequestIds::given_out(row.id));
    return second_of(*share);
}

// What is known of it in memory may be when it came, which says nothing under another clock.
bool is_early(Context& context, const store::Row& row) {
    const auto begun = context.begun_shares.due(row.id.sequence);
    if (begun && *begun <= context.now.wall) return false;
    return due_time(context, row) > context.now.wall;
}

void put_back(Context& context, const store::Row& row) {
    back_to_queue(context, row, {});
}

void start(Context& context) {
    std::size_t begun = 0;
    std::size_t seen = 0;
    while (context.gates.free_share_slots() > 0 && seen < rows_per_step) {
        const std::size_t limit =
            std::min<std::size_t>(context.gates.free_share_slots(), rows_per_step - seen);
        const std::vector<store::Row> rows =
            context.store.due(store::Lane::schedule, context.now.wall, limit);
        for (const store::Row& row : rows) {
            if (!context.has_room()) break;
            if (is_over(context, row)) {
                time_out(context, row);
            } else if (start_one(context, row)) {
                ++begun;
            }
        }
        seen += rows.size();
        if (rows.size() < limit || context.is_full) break;
    }
    note_started(context, begun);
}

void foresee(Context& context) {
    const domain::Milliseconds lead = context.options.shares.prover_lead;
    const std::size_t free = context.gates.free_share_slots();
    if (lead <= domain::Milliseconds::zero() || free == 0) return;
    const std::size_t begin =
        context.store.count_due(store::Lane::schedule, context.now.wall + lead, free);
    if (begin > 0) context.effects.proofs_expected = context.gates.shares_in_work() + begin;
}

// Pauses are no longer than a minute, or as the fifth attempt has them.
void reload_begun(Context& context) {
    const auto latest = context.now.wall + unreachable_bound_max;
    for (const store::Row& row : context.store.tried_shares(latest)) {
        if (const auto share = stored_share(context, row)) note_begun(context, row, *share);
    }
}

void tell_late_rounds(Context& context) {
    const domain::Timestamp since = context.now.wall - late_after;
    std::set<std::int64_t> rounds = context.begun_shares.rounds_due(since);
    for (const store::Row& row : context.store.due(store::Lane::schedule, since, rows_per_step)) {
        if (row.round && RequestIds::given_out(row.id) <= since) rounds.insert(*row.round);
    }
    for (const std::int64_t round : rounds) {
        const auto [told, is_new] =
            context.late_shares_told.try_emplace(round, context.now.monotonic);
        if (!is_new && context.now.monotonic - told->second < late_pause) continue;
        told->second = context.now.monotonic;
        rounds::note_late_shares(context, round, late_after);
    }
}

std::size_t expire(Context& context, std::int64_t round, std::size_t limit) {
    std::size_t expired = 0;
    for (const store::Row& row : context.store.waiting_in_round(round, limit)) {
        if (!is_over(context, row)) continue;
        if (!context.has_room()) break;
        assert(row.round == round);
        time_out(context, row);
        ++expired;
    }
    return expired;
}

void revealed(Context& context, const store::Row& row, const Receipt& receipt) {
    assert(row.kind == domain::Kind::share && row.status == Status::tx_in_flight);
    const domain::ShareRevealed revealed = receipt.revealed.value_or(domain::ShareRevealed{});
    if (context.options.shares.confirm_reveals && !receipt.confirmed) {
        note_revealed(context, row, revealed);
        confirmations::begin(context, row, revealed);
        return;
    }
    store::Schedule schedule;
    schedule.lane = store::Lane::timer;
    schedule.wake = context.now.wall;
    if (!context.store.receive(row, std::nullopt, schedule, context.now.wall)) {
        ++context.stale;
        return;
    }
    store::Row received = row;
    received.status = Status::receipt_received;
    note_revealed(context, row, revealed);
    const domain::Result result = revealed;
    if (!context.store.complete(received, domain::encode(result), context.now.wall)) {
        ++context.stale;
    }
}

void attempt_failed(Context& context, const store::Row& row, const domain::Failure& failure) {
    const ShareOptions& options = context.options.shares;
    store::Row failed = row;
    ++failed.schedule.attempts;
    failed.schedule.faults = 0;
    ++context.effects.share_attempts_failed;
    note_failed_attempt(context, failed, failure.text);
    rounds::note_trouble(context, row, failure.text);
    if (failed.schedule.attempts >= options.attempts_max) {
        fail(context, row, Status::failure, Cause::transaction,
             {Reason::attempts_used_up, failure.text, failure.selector});
        return;
    }
    const auto pause = domain::share_backoff(failed.schedule.attempts, options.backoff_first);
    back_to_queue(context, failed, context.now.wall + pause);
}

void chain_unreachable(Context& context, const store::Row& row, const Unreachable& unreachable) {
    if (context.stopping) return put_back(context, row);
    if (context.options.shares.strict_attempts) {
        attempt_failed(context, row, {Reason::send_failed, unreachable.reason, {}});
        return;
    }
    rounds::note_trouble(context, row, unreachable.reason);
    // Whatever went well in between: the pauses grow until the attempt comes to an end.
    store::Row waiting = row;
    ++waiting.schedule.faults;
    if (waiting.schedule.faults == 1) note_unreachable(context, waiting, unreachable.reason);
    const auto pause = std::max(context.options.unreachable_pause.pause(waiting.schedule.faults),
                                unreachable.hold);
    back_to_queue(context, waiting, context.now.wall + bounded(context, waiting, pause));
}

}  // namespace engine::shares
