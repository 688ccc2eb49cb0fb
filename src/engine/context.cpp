#include "engine/context.hpp"

#include <algorithm>

#include "engine/share_journal.hpp"

namespace engine {

RequestPtr load_request(Context& context, const store::Row& row) {
    const std::optional<domain::Bytes> payload = context.store.payload(row.id.sequence);
    std::optional<domain::Request> request;
    if (payload) request = domain::decode_request(*payload);
    if (request && domain::kind_of(*request) == row.kind) {
        return std::make_shared<const domain::Request>(std::move(*request));
    }
    fail(context, row, domain::Status::failure, domain::Cause::internal,
         {domain::Reason::undecodable,
          internal_text(row.kind, "The stored request can not be read"),
          {}});
    return nullptr;
}

void fail(Context& context, const store::Row& row, domain::Status to, domain::Cause cause,
          domain::Failure failure) {
    failure.text = domain::redact_urls(failure.text);
    context.gates.leave(row.id.sequence, domain::family_of(row.kind));
    if (!context.store.fail(row, {row.status, to, cause}, failure, context.now.wall)) {
        ++context.stale;
        return;
    }
    context.effects.settled.push_back(row.id.sequence);
    if (row.kind == domain::Kind::share) {
        shares::note_end(context, row, failure);
        return;
    }
    context.effects.lines.push_back(
        {Level::info,
         "request_ended job_id=" + to_string(row.id) + " kind=" + std::string(to_string(row.kind)) +
             " status=" + std::string(to_string(to)) + " reason=" +
             std::string(to_string(failure.reason)) + " text=\"" + failure.text + "\""});
}

std::string internal_text(domain::Kind kind, const std::string& text) {
    return domain::is_decrypt(kind) ? "Processing Failed: " + text : text;
}

store::Schedule in_line(const Context& context, const store::Schedule& before) {
    store::Schedule schedule = before;
    schedule.lane = store::Lane::gate;
    schedule.wake = context.now.steady + second_look;
    schedule.claims = 0;
    return schedule;
}

store::Schedule in_work(const Context& context, const store::Schedule& before) {
    store::Schedule schedule = before;
    schedule.lane = store::Lane::timer;
    schedule.wake = context.now.steady + context.options.lease;
    ++schedule.claims;
    return schedule;
}

store::Schedule pausing(const Context& context, const store::Schedule& before,
                        domain::Milliseconds pause) {
    store::Schedule schedule = before;
    schedule.lane = store::Lane::timer;
    schedule.wake = context.now.steady + pause;
    if (schedule.deadline) schedule.wake = std::min(schedule.wake, *schedule.deadline);
    schedule.claims = 0;
    return schedule;
}

}  // namespace engine
