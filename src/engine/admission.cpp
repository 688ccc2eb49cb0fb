#include "engine/admission.hpp"

#include <cassert>

#include "engine/holds.hpp"
#include "engine/rounds.hpp"
#include "engine/shares.hpp"

namespace engine {

using domain::Family;
using domain::Status;

namespace {

constexpr std::size_t rounds_max = 1'024;

Accepted accepted(const Context& context, const store::Row& row, bool duplicate,
                  const domain::QueuePosition& position) {
    assert(position.family == domain::family_of(row.kind));
    return {row.id, duplicate, context.gates.retry_after_seconds(position),
            context.gates.raw_eta_ms(position)};
}

Accepted accepted_at_once(const Context& context, const store::Row& row, bool duplicate) {
    return {row.id, duplicate, context.gates.shortest_retry_after_seconds(), {}};
}

Accepted duplicate(const Context& context, const store::Row& row) {
    const Family family = domain::family_of(row.kind);
    if (holds::is_held(context, row.id.sequence)) {
        return {row.id, true, context.gates.longest_retry_after_seconds(), {}};
    }
    if (family == Family::share || domain::is_terminal(row.status)) {
        return accepted_at_once(context, row, true);
    }
    const auto in_status =
        std::chrono::floor<std::chrono::seconds>(context.now.wall - row.since).count();
    return accepted(context, row, true, context.gates.position_of(row, in_status));
}

}  // namespace

AcceptOutcome Admission::admit(Context& context, const Submission& submission) {
    if (!submission.idempotency_key) return admit_content(context, submission);
    const domain::Bytes32& key = *submission.idempotency_key;
    if (const auto known = context.store.find_by_key(key, submission.identity)) {
        if (!known->same_content) return KeyReused{};
        return duplicate(context, known->row);
    }
    AcceptOutcome outcome = admit_content(context, submission);
    if (const auto* accepted = std::get_if<Accepted>(&outcome)) {
        context.store.remember_key(key, accepted->id.sequence);
    }
    return outcome;
}

AcceptOutcome Admission::admit_content(Context& context, const Submission& submission) {
    if (const auto earlier = context.store.find_duplicate(submission.identity)) {
        if (!earlier->same_content) return Conflict{};
        return duplicate(context, earlier->row);
    }
    if (submission.payload.size() > context.store.value_bytes_max()) {
        return TooLarge{context.store.value_bytes_max()};
    }
    const Family family = domain::family_of(submission.kind);
    if (context.gates.is_full(family, submission.client)) {
        return QueueFull{context.options.api_retry_after_seconds};
    }

    store::Row row;
    row.id = ids_.next(context.now.wall);
    row.kind = submission.kind;
    row.status = domain::first_status(submission.kind);
    row.since = context.now.wall;
    row.client = submission.client;
    Accepted answer;
    if (family == Family::share) {
        assert(submission.vote_end);
        row.round = round_of(context, submission);
        row.schedule.lane = store::Lane::schedule;
        row.schedule.wake = submission.submit_at.value_or(context.now.wall);
        row.schedule.deadline = submission.vote_end;
        answer = accepted_at_once(context, row, false);
    } else {
        row.schedule = in_queue(context, {});
        answer =
            accepted(context, row, false, context.gates.position_of_new(family, submission.client));
    }
    assert(row.round.has_value() == (family == Family::share));
    context.store.insert({row, submission.identity, submission.payload});
    if (row.round) ++new_in_round_[*row.round];
    if (family == Family::share && shares::is_over(context, row)) rounds::note_late(context, row);

    if (submission.kind == domain::Kind::input_proof) {
        context.gates.enqueue_send(row);
    } else if (family != Family::share) {
        context.gates.enqueue_check(row);
    }
    return answer;
}

void Admission::finish(Context& context) {
    for (const auto& [round, shares] : new_in_round_) {
        assert(shares > 0);
        context.store.add_to_round(round, shares);
    }
    new_in_round_.clear();
}

void Admission::undo() {
    rounds_.clear();
    new_in_round_.clear();
}

std::int64_t Admission::round_of(Context& context, const Submission& submission) {
    const auto known = rounds_.find(submission.round_id);
    if (known != rounds_.end()) return known->second;
    if (rounds_.size() >= rounds_max) rounds_.clear();
    const std::int64_t id = context.store.round(submission.round_id, *submission.vote_end);
    rounds_.emplace(submission.round_id, id);
    return id;
}

}  // namespace engine
