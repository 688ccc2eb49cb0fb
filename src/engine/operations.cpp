#include "engine/operations.hpp"

#include <algorithm>
#include <cassert>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "engine/holds.hpp"
#include "engine/sealing.hpp"
#include "engine/sending.hpp"

namespace engine::operations {

namespace {

using domain::Kind;
using domain::Status;
using holds::BegunRelease;
using Outcome = std::optional<InstructionOutcome>;

constexpr std::size_t rows_per_look = 2'000;
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

Outcome apply(Context& context, Admission&, const Cancel& cancel, BegunRelease&) {
    const std::optional<store::Row> row = find(context, cancel.id);
    if (!row) return UnknownRequest{};
    if (domain::is_terminal(row->status)) return NotDone{"it has ended: " + named(row->status)};
    // What is held although it is signed has told: its nonce is another transaction's.
    const bool is_held =
        holds::is_held(context, row->id.sequence) && row->status != Status::receipt_received;
    if (is_signed(*row) && !is_held) {
        return NotDone{
            "a transaction is signed for it: only the chain can tell what becomes of it"};
    }
    if (row->kind == Kind::share && !cancel.share_too) {
        return NotDone{
            "it is a vote share: its secrets would be wiped, and it would count as failed; say "
            "--yes"};
    }
    if (is_held) context.store.settle_inclusion(row->id.sequence);  // it is never sent again
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

Outcome apply(Context& context, Admission& admission, const Retry& retry, BegunRelease&) {
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

Outcome apply(Context& context, Admission&, const Pause& pause, BegunRelease&) {
    if (context.gates.is_paused(pause.family)) return Done{};
    context.gates.pause(pause.family, context.now.steady);
    context.store.set(
        {pause_setting(pause.family), std::to_string(domain::unix_ms(context.now.steady))});
    log_pause(context, "kind_paused", pause.family);
    return Done{};
}

// An end of a pause that takes several steps. It is kept in the database, so that no deadline moves
// twice, whoever goes on.
struct EndingPause {
    domain::Milliseconds length{};
    std::size_t kind = 0;    // of domain::kinds; those before are done
    std::int64_t after = 0;  // rows of it up to this one are done
};

std::string ending_note(domain::Family family) {
    return "pause_ends." + std::string(to_string(family));
}

std::optional<EndingPause> read_ending(store::Store& store, domain::Family family) {
    const std::optional<std::string> note = store.note(ending_note(family));
    if (!note) return std::nullopt;
    std::istringstream numbers(*note);
    std::int64_t length = 0;
    EndingPause ending;
    numbers >> length >> ending.kind >> ending.after;
    ending.length = domain::Milliseconds{length};
    return ending;
}

// False: there are more rows.
bool put_off(Context& context, domain::Family family, EndingPause& ending) {
    for (; ending.kind < domain::kinds.size(); ++ending.kind, ending.after = 0) {
        const Kind kind = domain::kinds[ending.kind];
        if (domain::family_of(kind) != family || kind == Kind::share) continue;
        while (const auto last =
                   context.store.put_off(kind, ending.length, ending.after, rows_per_look)) {
            ending.after = *last;
            if (!context.has_room()) return false;
        }
    }
    return true;
}

// False: it goes on in the next step, and until then the pause does.
bool end_pause(Context& context, domain::Family family) {
    const std::optional<EndingPause> begun = read_ending(context.store, family);
    EndingPause ending = begun.value_or(EndingPause{});
    if (!begun) {
        const auto since = context.gates.paused_since(family);
        if (!since) return true;
        ending.length = std::max(context.now.steady - *since, domain::Milliseconds{0});
    }
    if (!put_off(context, family, ending)) {
        context.store.keep_note(ending_note(family), std::to_string(ending.length.count()) + " " +
                                                         std::to_string(ending.kind) + " " +
                                                         std::to_string(ending.after));
        return false;
    }
    if (begun) context.store.drop_note(ending_note(family));
    context.gates.resume(family);
    context.store.unset(pause_setting(family));
    log_pause(context, "kind_resumed", family);
    return true;
}

Outcome apply(Context& context, Admission&, const Unpause& unpause, BegunRelease&) {
    if (!end_pause(context, unpause.family)) return std::nullopt;
    return Done{};
}

Outcome apply(Context& context, Admission&, const Release& release, BegunRelease& begun) {
    if (auto released = holds::release(context, release, begun)) return *std::move(released);
    return std::nullopt;
}

Outcome apply(Context& context, Admission&, const Remember& remember, BegunRelease&) {
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
    auto entry = context.work.end(row.id.sequence, is_queued ? Task::check : Task::prepare);
    if (!entry) entry = sealing::end(context, row);
    if (entry) {
        is_queued ? context.gates.give_back_check(entry->family)
                  : context.gates.give_back_sending();
    }
    store::Schedule schedule = in_queue(context, row.schedule);
    if (entry) schedule.claims = 0;  // nobody answered, and the process goes on
    if (!context.store.reschedule(row, row.status, schedule)) {
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

Outcome apply(Context& context, Admission& admission, const Instruction& instruction,
              BegunRelease& begun) {
    return std::visit([&](const auto& what) { return apply(context, admission, what, begun); },
                      instruction.what);
}

void finish_pauses(Context& context) {
    for (const domain::Family family : domain::families) {
        for (bool goes_on = context.store.note(ending_note(family)).has_value(); goes_on;) {
            store::Store::Transaction transaction(context.store);
            context.is_full = false;
            goes_on = !end_pause(context, family);
            transaction.commit();
            context.gates.keep_pauses();
        }
    }
}

}  // namespace engine::operations
