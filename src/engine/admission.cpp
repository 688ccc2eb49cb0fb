#include "engine/admission.hpp"

#include <cassert>

namespace engine {

using domain::Family;
using domain::Status;

namespace {

constexpr std::size_t rounds_max = 1'024;

std::uint32_t seconds(const Context& context, const domain::Standing& standing) {
    return domain::retry_after_seconds(standing, context.options.retry_after);
}

AcceptOutcome duplicate(const Context& context, const store::Twin& twin) {
    if (!twin.same_content) return Conflict{};
    const store::Row& row = twin.row;
    const Family family = domain::family_of(row.kind);
    std::uint32_t retry_after = context.options.retry_after.min_seconds;
    if (family != Family::share && !domain::is_terminal(row.status)) {
        const auto in_status =
            std::chrono::floor<std::chrono::seconds>(context.now.wall - row.since).count();
        retry_after = seconds(
            context, context.gates.standing(family, row.status, row.id.sequence, in_status));
    }
    return Accepted{row.id, true, retry_after};
}

}  // namespace

AcceptOutcome Admission::admit(Context& context, const Submission& submission) {
    if (const auto twin = context.store.find_twin(submission.identity)) {
        return duplicate(context, *twin);
    }
    const Family family = domain::family_of(submission.kind);
    if (context.gates.is_full(family)) {
        return Bounced{context.options.api_retry_after_seconds};
    }

    store::Row row;
    row.id = ids_.next(context.now.wall);
    row.kind = submission.kind;
    row.status = domain::first_status(submission.kind);
    row.since = context.now.wall;
    std::uint32_t retry_after = context.options.retry_after.min_seconds;
    if (family == Family::share) {
        assert(submission.vote_end);
        row.round = round_of(context, submission);
        row.schedule.lane = store::Lane::schedule;
        row.schedule.wake = submission.submit_at.value_or(context.now.wall);
        row.schedule.deadline = submission.vote_end;
    } else {
        row.schedule = in_line(context, {});
        retry_after = seconds(context, context.gates.standing_of_new(family));
    }
    context.store.insert({row, submission.identity, submission.payload});
    if (row.round) ++new_in_round_[*row.round];

    if (submission.kind == domain::Kind::input_proof) {
        context.gates.line_up_for_sending(family, row.id.sequence);
    } else if (family != Family::share) {
        context.gates.line_up_for_check(family, row.id.sequence);
    }
    return Accepted{row.id, false, retry_after};
}

void Admission::finish(Context& context) {
    for (const auto& [round, shares] : new_in_round_) context.store.add_to_round(round, shares);
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
