#include "engine/service.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "domain/identity.hpp"
#include "store/errors.hpp"

namespace engine {

using domain::Status;

namespace {

constexpr std::uint32_t full_retry_after_seconds = 1;

}  // namespace

Service::Service(Inbox& inbox, const Processor& processor, const Gates& gates,
                 const Gateway& gateway, store::Reader& reader, const ports::Clock& clock)
    : inbox_(inbox),
      processor_(processor),
      gates_(gates),
      gateway_(gateway),
      reader_(reader),
      clock_(clock) {}

void Service::submit(const domain::Request& request, const SubmitOptions& options, Reply reply) {
    assert(reply);
    if (!processor_.is_open() || damaged_) {
        reply(unavailable(damaged_ ? store::StorageErrorKind::corrupt : processor_.closed_by(),
                          "the database takes no writes"));
        return;
    }
    // Everything that needs no order is done here, on the caller's thread.
    Submission submission;
    submission.kind = domain::kind_of(request);
    submission.identity = domain::identify(request);
    submission.payload = domain::encode(request);
    if (const auto* share = std::get_if<domain::VoteShare>(&request)) {
        submission.round_id = share->round_id;
        submission.vote_end = options.vote_end;
        if (share->submit_at != 0) {
            submission.submit_at = domain::Timestamp{
                std::chrono::seconds{static_cast<std::int64_t>(share->submit_at)}};
        }
    }
    submission.idempotency_key = options.idempotency_key;
    submission.client = options.client;
    submission.reply = std::move(reply);
    // A share without the end of its round could never be given up.
    assert(submission.kind != domain::Kind::share || submission.vote_end);
    if (const auto refused = inbox_.submit(std::move(submission))) {
        refused->reply(
            Unavailable{"the inbox is full or closed", full_retry_after_seconds, "inbox_full"});
    }
}

FindOutcome Service::find(const domain::RequestId& id) {
    std::optional<store::StoredRequest> stored;
    try {
        stored = reader_.find(id);
    } catch (const store::StorageError& error) {
        return unreadable(error);
    }
    if (!stored) return NotFound{};
    const store::Row& row = stored->row;
    if (row.status == Status::completed) {
        Completed completed{row.kind, {}, false};
        if (stored->result) completed.result = domain::decode_result(*stored->result);
        completed.unreadable = stored->result && !completed.result;
        return completed;
    }
    if (domain::is_terminal(row.status)) {
        return Ended{row.kind, row.status,
                     stored->failure.value_or(
                         domain::Failure{domain::Reason::internal_error, "Unknown error", {}})};
    }
    return pending(*stored);
}

QueueAnswer Service::rounds() {
    try {
        return reader_.round_queues();
    } catch (const store::StorageError& error) {
        return unreadable(error);
    }
}

Unreadable Service::unreadable(const store::StorageError& error) {
    if (error.kind() == store::StorageErrorKind::corrupt) damaged_ = true;
    return Unreadable{error.what()};
}

Pending Service::pending(const store::StoredRequest& stored) const {
    const store::Row& row = stored.row;
    const auto elapsed =
        std::chrono::floor<std::chrono::seconds>(clock_.wall() - row.since).count();
    Pending pending;
    pending.kind = row.kind;
    pending.status = row.status;
    pending.elapsed_seconds = static_cast<std::uint64_t>(std::max<std::int64_t>(elapsed, 0));
    const domain::Family family = domain::family_of(row.kind);
    if (stored.held) {
        pending.retry_after_seconds = gates_.longest_retry_after_seconds();
    } else if (family != domain::Family::share) {
        const domain::QueuePosition position = gates_.position_of(row, elapsed);
        pending.retry_after_seconds = gates_.retry_after_seconds(position);
    }
    return pending;
}

void Service::retune(Retune change) {
    if (!processor_.is_open()) return change.reply(false);
    if (const auto refused = inbox_.retune(std::move(change))) refused->reply(false);
}

store::Backlog Service::backlog() {
    store::Backlog backlog = reader_.backlog();
    if (const auto begun = processor_.begun_since()) {
        backlog.earliest_scheduled = std::min(backlog.earliest_scheduled.value_or(*begun), *begun);
    }
    return backlog;
}

void Service::instruct(Instruction instruction) {
    if (!processor_.is_open()) return instruction.reply(NotWritten{});
    if (const auto refused = inbox_.instruct(std::move(instruction))) refused->reply(NotWritten{});
}

std::vector<Dependency> Service::dependencies() const {
    std::vector<Dependency> all{{"database", processor_.is_open() && !damaged_}};
    for (Dependency& dependency : gateway_.dependencies()) all.push_back(std::move(dependency));
    return all;
}

}  // namespace engine
