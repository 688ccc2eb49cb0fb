#include "engine/shares.hpp"

#include <algorithm>
#include <string>

namespace engine::shares {

using domain::Cause;
using domain::Family;
using domain::Reason;
using domain::Status;

namespace {

constexpr std::size_t rows_per_step = 512;
// Shares of open rounds may stand before those of a round that is over: a few milliseconds to read.
constexpr std::size_t rows_per_search = 10'000;

// A round is over once its last second has passed (share-helper 3.3: strictly, whole seconds).
domain::Timestamp round_close(domain::Timestamp vote_end) {
    return vote_end + std::chrono::seconds{1};
}

bool is_over(const Context& context, const store::Row& row) {
    return row.schedule.deadline && context.now.wall >= round_close(*row.schedule.deadline);
}

void time_out(Context& context, const store::Row& row) {
    fail(context, row, Status::timed_out, Cause::expired,
         {Reason::round_over, "The round was over before the share was revealed", {}});
}

void start_one(Context& context, const store::Row& row) {
    RequestPtr request = load_request(context, row);
    if (!request) return;
    if (!context.store.move(row, {Status::queued, Status::processing, Cause::claimed},
                            in_work(context, row.schedule), context.now.wall)) {
        ++context.stale;
        return;
    }
    context.effects.woken.push_back({store::Lane::schedule, context.now.wall - row.schedule.wake});
    context.gates.take_share_slot();
    context.work.begin(row.id.sequence, {Task::prepare, Family::share});
    context.effects.prepares.push_back({row.id, std::move(request)});
}

void back_to_queue(Context& context, const store::Row& row, domain::Milliseconds pause) {
    store::Schedule schedule = row.schedule;
    schedule.lane = store::Lane::schedule;
    // Not before its second either, should the clock have been set back meanwhile.
    schedule.wake = std::max(context.now.wall + pause, submit_time(context, row));
    if (schedule.deadline) schedule.wake = std::min(schedule.wake, round_close(*schedule.deadline));
    schedule.claims = 0;
    if (!context.store.move(row, {row.status, Status::queued, Cause::retried}, schedule,
                            context.now.wall)) {
        ++context.stale;
    }
}

}  // namespace

domain::Timestamp submit_time(Context& context, const store::Row& row) {
    const std::optional<domain::Bytes> payload = context.store.payload(row.id.sequence);
    std::optional<domain::Request> request;
    if (payload) request = domain::decode_request(*payload);
    const auto* share = request ? std::get_if<domain::VoteShare>(&*request) : nullptr;
    if (share == nullptr) return {};
    return domain::Timestamp{std::chrono::seconds{static_cast<std::int64_t>(share->submit_at)}};
}

void start(Context& context) {
    std::size_t seen = 0;
    while (context.gates.free_share_slots() > 0 && seen < rows_per_step) {
        const std::size_t limit =
            std::min<std::size_t>(context.gates.free_share_slots(), rows_per_step - seen);
        const std::vector<store::Row> rows =
            context.store.due(store::Lane::schedule, context.now.wall, limit);
        for (const store::Row& row : rows) {
            is_over(context, row) ? time_out(context, row) : start_one(context, row);
        }
        seen += rows.size();
        if (rows.size() < limit) break;
    }
}

std::size_t expire(Context& context, std::size_t limit) {
    std::size_t expired = 0;
    for (const store::Row& row :
         context.store.due(store::Lane::schedule, context.now.wall, rows_per_search)) {
        if (expired == limit) break;
        if (!is_over(context, row)) continue;
        time_out(context, row);
        ++expired;
    }
    return expired;
}

void revealed(Context& context, const store::Row& row, const Receipt& receipt) {
    store::Schedule schedule;
    schedule.lane = store::Lane::timer;
    schedule.wake = context.now.wall;
    if (!context.store.receive(row, std::nullopt, schedule, context.now.wall)) {
        ++context.stale;
        return;
    }
    store::Row received = row;
    received.status = Status::receipt_received;
    const domain::Result result = receipt.revealed.value_or(domain::ShareRevealed{});
    if (!context.store.complete(received, domain::encode(result), context.now.wall)) {
        ++context.stale;
    }
}

void attempt_failed(Context& context, const store::Row& row, const domain::Failure& failure) {
    store::Row failed = row;
    ++failed.schedule.attempts;
    if (failed.schedule.attempts >= domain::share_attempts_max) {
        fail(context, row, Status::failure, Cause::transaction,
             {Reason::attempts_used_up, failure.text, failure.selector});
    } else {
        back_to_queue(context, failed, domain::share_backoff(failed.schedule.attempts));
    }
}

void trouble(Context& context, const store::Row& row, const std::string& reason) {
    if (context.options.shares.strict_attempts) {
        attempt_failed(context, row, {Reason::send_failed, reason, {}});
        return;
    }
    store::Row waiting = row;
    ++waiting.schedule.faults;
    back_to_queue(context, waiting, context.options.trouble_pause.pause(waiting.schedule.faults));
}

}  // namespace engine::shares
