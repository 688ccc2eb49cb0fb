#include "engine/operations.hpp"

#include <algorithm>
#include <cassert>
#include <optional>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "engine/holds.hpp"
#include "engine/sending.hpp"

namespace engine::operations {

namespace {

using domain::Kind;
using domain::Status;

constexpr const char* cancelled_text = "Cancelled by the operator";

std::string named(Status status) {
    return std::string(to_string(status));
}

// Nothing for an id that nobody was given.
std::optional<store::Row> find(Context& context, const domain::RequestId& id) {
    std::optional<store::Row> row = context.store.load(id.sequence);
    if (row && row->id != id) row.reset();
    return row;
}

bool is_signed(const store::Row& row) {
    return row.status == Status::tx_in_flight || row.status == Status::receipt_received ||
           sending::was_sealed(row);
}

InstructionOutcome apply(Context& context, Admission&, const Cancel& cancel) {
    const std::optional<store::Row> row = find(context, cancel.id);
    if (!row) return UnknownRequest{};
    if (domain::is_terminal(row->status)) return NotDone{"it has ended: " + named(row->status)};
    if (is_signed(*row)) {
        return NotDone{
            "a transaction is signed for it: only the chain can tell what becomes of it"};
    }
    if (row->kind == Kind::share && !cancel.share_too) {
        return NotDone{
            "it is a vote share: its secrets would be wiped, and it would count as failed; say "
            "--yes"};
    }
    fail(context, *row, Status::failure, domain::Cause::internal,
         {domain::Reason::internal_error, cancelled_text, {}});
    return Done{row->id};
}

// What was stored of it, as it would come in now.
std::optional<Submission> submission_of(Context& context, const store::Row& row) {
    std::optional<domain::Bytes> payload = context.store.payload(row.id.sequence);
    if (!payload) return std::nullopt;
    const auto request = domain::decode_request(*payload);
    if (!request || domain::kind_of(*request) != row.kind) return std::nullopt;
    Submission submission;
    submission.kind = row.kind;
    submission.identity = domain::identify(*request);
    submission.payload = *std::move(payload);
    submission.client = row.client;
    return submission;
}

std::optional<NotDone> reason_against(Context& context, const store::Row& row, const Retry& retry) {
    if (row.kind == Kind::share) return NotDone{"a vote share is never sent again"};
    if (!domain::is_terminal(row.status)) {
        return NotDone{"it has not ended: " + named(row.status)};
    }
    if (row.status == Status::completed) return NotDone{"it is completed"};
    if (!retry.pay_again && !context.store.attempts(row.id.sequence).empty()) {
        return NotDone{
            "a transaction was signed for it, and may have been paid for; say --pay-again"};
    }
    return std::nullopt;
}

InstructionOutcome apply(Context& context, Admission& admission, const Retry& retry) {
    const std::optional<store::Row> row = find(context, retry.id);
    if (!row) return UnknownRequest{};
    if (auto reason = reason_against(context, *row, retry)) return *std::move(reason);
    const std::optional<Submission> submission = submission_of(context, *row);
    if (!submission) return NotDone{"what was asked can not be read any more"};
    const AcceptOutcome outcome = admission.admit(context, *submission);
    const auto* accepted = std::get_if<Accepted>(&outcome);
    if (accepted == nullptr) return NotDone{"its queue is full; try again later"};
    if (accepted->duplicate) return AskedAlready{accepted->id};
    const std::string before = to_string(row->id);
    const std::string after = to_string(accepted->id);
    context.store.add_history(row->id.sequence,
                              {"retried_as", context.now.wall, "operator", after});
    context.store.add_history(accepted->id.sequence,
                              {"retry_of", context.now.wall, "operator", before});
    context.effects.lines.push_back(
        {ports::LogLevel::info, "request_retried job_id=" + after + " retry_of=" + before +
                                    " kind=" + std::string(to_string(row->kind))});
    return Done{accepted->id};
}

void log_pause(Context& context, const char* event, domain::Family family) {
    context.effects.lines.push_back(
        {ports::LogLevel::warning,
         std::string(event) + " kind=" + std::string(to_string(family)) + " by=operator"});
}

InstructionOutcome apply(Context& context, Admission&, const Pause& pause) {
    if (context.gates.is_paused(pause.family)) return Done{};
    context.gates.pause(pause.family, context.now.steady);
    context.store.set(
        {pause_setting(pause.family), std::to_string(domain::unix_ms(context.now.steady))});
    log_pause(context, "kind_paused", pause.family);
    return Done{};
}

InstructionOutcome apply(Context& context, Admission&, const Unpause& unpause) {
    const auto since = context.gates.paused_since(unpause.family);
    if (!since) return Done{};
    const domain::Milliseconds length =
        std::max(context.now.steady - *since, domain::Milliseconds{0});
    for (const Kind kind : domain::kinds) {
        const bool is_share = kind == Kind::share;
        if (domain::family_of(kind) == unpause.family && !is_share) {
            context.store.put_off(kind, length);
        }
    }
    context.gates.resume(unpause.family);
    context.store.unset(pause_setting(unpause.family));
    log_pause(context, "kind_resumed", unpause.family);
    return Done{};
}

InstructionOutcome apply(Context& context, Admission&, const Release& release) {
    return holds::release(context, release);
}

InstructionOutcome apply(Context& context, Admission&, const Remember& remember) {
    context.store.set(remember.setting);
    return Done{};
}

}  // namespace

bool waits_for_gates(const store::Row& row) {
    if (row.status == Status::queued) return true;
    return row.kind != Kind::share && row.status == Status::processing && !sending::was_sealed(row);
}

bool is_paused(const Context& context, const store::Row& row) {
    return row.kind != Kind::share && waits_for_gates(row) &&
           context.gates.is_paused(domain::family_of(row.kind));
}

void keep_queued(Context& context, const store::Row& row) {
    assert(is_paused(context, row));
    const bool is_queued = row.status == Status::queued;
    const auto entry = context.work.end(row.id.sequence, is_queued ? Task::check : Task::prepare);
    if (entry) {
        is_queued ? context.gates.give_back_check(entry->family)
                  : context.gates.give_back_sending();
    }
    if (!context.store.reschedule(row, row.status, in_queue(context, row.schedule))) {
        ++context.stale;
    } else if (is_queued) {
        context.gates.enqueue_check(row);
    } else {
        context.gates.enqueue_send(row);
    }
}

std::string pause_setting(domain::Family family) {
    return "paused." + std::string(to_string(family));
}

void restore_pauses(const std::vector<store::Setting>& settings, Gates& gates) {
    for (const domain::Family family : domain::families) {
        const auto found =
            std::ranges::find(settings, pause_setting(family), &store::Setting::name);
        if (found == settings.end()) continue;
        const auto since = base::number_in<std::int64_t>(found->value);
        gates.pause(family, domain::from_unix_ms(since.value_or(0)));
    }
    gates.keep_pauses();
}

InstructionOutcome apply(Context& context, Admission& admission, const Instruction& instruction) {
    return std::visit([&](const auto& what) { return apply(context, admission, what); },
                      instruction.what);
}

}  // namespace engine::operations
