#include "engine/context.hpp"

#include <algorithm>
#include <cassert>

#include "base/sanitize.hpp"
#include "base/urls.hpp"
#include "engine/share_log.hpp"

namespace engine {

namespace {

constexpr std::size_t trouble_bytes_max = 300;
// Also in a full step, which otherwise would come upon them again and again.
constexpr std::size_t broken_rows_min = 100;
constexpr const char* unreadable_text = "The stored request can not be read";

}  // namespace

RequestPtr load_request(Context& context, const store::Row& row) {
    const std::optional<domain::Bytes> payload = context.store.payload(row.id.sequence);
    std::optional<domain::Request> request;
    if (payload) request = domain::decode_request(*payload);
    if (request && domain::kind_of(*request) == row.kind) {
        return std::make_shared<const domain::Request>(std::move(*request));
    }
    fail(context, row, domain::Status::failure, domain::Cause::internal,
         {domain::Reason::undecodable, internal_text(row.kind, unreadable_text), {}});
    return nullptr;
}

void fail(Context& context, const store::Row& row, domain::Status to, domain::Cause cause,
          domain::Failure failure) {
    assert(domain::is_legal(row.kind, row.status, to, cause));
    failure.text = base::redact_urls(failure.text);
    context.gates.leave(row.id.sequence, domain::family_of(row.kind));
    if (!context.store.fail(row, {row.status, to, cause}, failure, context.now.wall)) {
        ++context.stale;
        return;
    }
    context.effects.settled.push_back(row.id.sequence);
    context.held.erase(row.id.sequence);
    if (row.kind == domain::Kind::share) {
        shares::note_end(context, row, failure);
        return;
    }
    log_end(context, row, to,
            " reason=" + std::string(to_string(failure.reason)) +
                " text=" + base::log_value(failure.text) +
                (hint_of(failure).empty() ? "" : " hint=" + base::log_value(hint_of(failure))));
}

void log_end(Context& context, const store::Row& row, domain::Status to, const std::string& more) {
    assert(row.kind != domain::Kind::share);
    std::string line = "request_ended job_id=" + to_string(row.id) +
                       " kind=" + std::string(to_string(row.kind)) +
                       " status=" + std::string(to_string(to));
    if (row.client != 0 && context.client_name) {
        line += " client=" + base::log_value(context.client_name(row.client));
    }
    // On a chain whose blocks may be replaced; elsewhere the lines of the stages have it.
    if (const auto inclusion = context.store.inclusion(row.id.sequence)) {
        line += " hash=0x" + domain::to_hex(inclusion->hash);
    }
    context.effects.lines.push_back({ports::LogLevel::info, line + more});
}

void note_trouble(Context& context, const store::Row& row, const std::string& reason) {
    if (row.kind == domain::Kind::share && !context.options.shares.expose_timing) return;
    context.store.note_trouble(row.id.sequence,
                               {"trouble", context.now.wall, std::string(to_string(row.status)),
                                base::sanitize(reason, {.bytes_max = trouble_bytes_max}), 1});
}

void log_stage(Context& context, const store::Row& row, domain::Status to,
               const std::string& more) {
    if (!context.logs_stages || row.kind == domain::Kind::share) return;
    context.effects.lines.push_back(
        {ports::LogLevel::debug, "request_stage job_id=" + to_string(row.id) +
                                     " kind=" + std::string(to_string(row.kind)) +
                                     " status=" + std::string(to_string(to)) + more});
}

void end_broken(Context& context) {
    std::size_t ended = 0;
    for (const store::BrokenRow& row : context.store.take_broken()) {
        if (++ended > broken_rows_min && !context.has_room()) return;
        const domain::Kind kind = row.kind.value_or(domain::Kind::input_proof);
        if (row.kind) context.gates.leave(row.sequence, domain::family_of(kind));
        if (context.work.end(row.sequence, Task::rest)) context.gates.give_back_sending();
        context.store.end_broken(row, internal_text(kind, unreadable_text), context.now.wall);
        context.effects.settled.push_back(row.sequence);
        context.effects.lines.push_back(
            {ports::LogLevel::error, "request_broken row=" + std::to_string(row.sequence) +
                                         " problem=" + base::log_value(row.problem) +
                                         " action=\"it failed\" hint=\"the file was changed " +
                                         "by somebody else, or the disk is bad\""});
    }
}

std::string internal_text(domain::Kind kind, const std::string& text) {
    return domain::is_decrypt(kind) ? "Processing Failed: " + text : text;
}

store::Schedule in_queue(const Context& context, const store::Schedule& before) {
    store::Schedule schedule = before;
    schedule.lane = store::Lane::gate;
    schedule.wake = context.now.steady + second_look;
    return schedule;
}

store::Schedule in_work(const Context& context, const store::Schedule& before) {
    store::Schedule schedule = before;
    schedule.lane = store::Lane::timer;
    // A lease that is over at once would hand the same work out in every step.
    assert(context.options.lease > domain::Milliseconds::zero());
    schedule.wake = context.now.steady + context.options.lease;
    ++schedule.claims;
    return schedule;
}

store::Schedule pausing(const Context& context, const store::Schedule& before,
                        domain::Milliseconds pause) {
    assert(pause >= domain::Milliseconds::zero());
    store::Schedule schedule = before;
    schedule.lane = store::Lane::timer;
    schedule.wake = context.now.steady + pause;
    if (schedule.deadline) schedule.wake = std::min(schedule.wake, *schedule.deadline);
    if (schedule.unreached_since) {
        schedule.wake =
            std::min(schedule.wake, *schedule.unreached_since + context.options.unreachable_limit);
    }
    schedule.claims = 0;
    return schedule;
}

void keep_since(std::optional<domain::Timestamp>& since, bool lasts, domain::Timestamp now) {
    if (!lasts) {
        since.reset();
    } else if (!since || *since > now) {
        since = now;
    }
}

std::optional<domain::Failure> unreached_for_too_long(const Context& context, const store::Row& row,
                                                      const std::string& reason) {
    const auto& since = row.schedule.unreached_since;
    if (!since || context.now.steady - *since < context.options.unreachable_limit) return {};
    if (context.gates.is_paused(domain::family_of(row.kind))) return {};
    return domain::Failure{domain::Reason::unreachable,
                           internal_text(row.kind, "The gateway could not be reached: " + reason),
                           {}};
}

std::optional<domain::Failure> tried_for_too_long(const Context& context, const store::Row& row) {
    if (row.schedule.unreached_since < context.began) return {};
    return unreached_for_too_long(context, row, "no answer");
}

}  // namespace engine
