#include "store/store_impl.hpp"

#include <algorithm>
#include <cassert>

namespace store {

using domain::Status;

namespace {

RoundRow read_round(const Statement& statement) {
    RoundRow round;
    round.id = statement.integer(0);
    round.round_id = statement.bytes32(1);
    round.vote_end = domain::from_unix_ms(statement.integer(2));
    round.total = static_cast<std::uint64_t>(statement.integer(3));
    round.submitted = static_cast<std::uint64_t>(statement.integer(4));
    round.failed = static_cast<std::uint64_t>(statement.integer(5));
    round.timed_out = static_cast<std::uint64_t>(statement.integer(6));
    round.unconfirmed = static_cast<std::uint64_t>(statement.integer(7));
    return round;
}

// Stored as one more, so that 0 stays what it was: nobody knows of the alert.
std::optional<std::uint64_t> told(std::int64_t stored) {
    if (stored <= 0) return std::nullopt;
    return static_cast<std::uint64_t>(stored - 1);
}

std::vector<RoundRow> read_rounds(Statement& statement) {
    std::vector<RoundRow> rounds;
    while (statement.next()) rounds.push_back(read_round(statement));
    return rounds;
}

}  // namespace

std::int64_t Store::round(const domain::Bytes32& round_id, domain::Timestamp vote_end) {
    Statements& statements = impl_->statements_;
    std::optional<std::int64_t> known;
    if (statements.find_round.with(round_id).next()) known = statements.find_round.integer(0);
    statements.find_round.finish();
    if (known) return *known;
    statements.insert_round.with(round_id, vote_end).run();
    return impl_->database_.getLastInsertRowid();
}

std::optional<RoundRow> Store::find_round(std::int64_t id) {
    const std::vector<RoundRow> rounds = read_rounds(impl_->statements_.find_round_row.with(id));
    return rounds.empty() ? std::nullopt : std::optional(rounds.front());
}

bool Store::is_closed(std::int64_t id) {
    Statement& statement = impl_->statements_.is_closed.with(id);
    const bool closed = statement.next();
    statement.finish();
    return closed;
}

std::vector<RoundRow> Store::rounds_over(domain::Timestamp end, std::size_t limit) {
    return read_rounds(impl_->statements_.rounds_over.with(end, limit));
}

std::optional<domain::Timestamp> Store::next_round_end(domain::Timestamp end) {
    Statement& statement = impl_->statements_.next_round_end.with(end);
    std::optional<domain::Timestamp> next;
    if (statement.next() && !statement.is_null(0)) {
        next = domain::from_unix_ms(statement.integer(0));
    }
    statement.finish();
    return next;
}

std::vector<Row> Store::waiting_in_round(std::int64_t id, std::size_t limit) {
    return impl_->read_rows(impl_->statements_.waiting_in_round.with(id, limit));
}

std::vector<std::int64_t> Store::closed_with_waiting() {
    Statement& statement = impl_->statements_.closed_with_waiting.with();
    std::vector<std::int64_t> rounds;
    while (statement.next()) rounds.push_back(statement.integer(0));
    return rounds;
}

void Store::add_to_round(std::int64_t id, std::uint64_t shares) {
    assert(impl_->in_transaction() && shares > 0);
    impl_->statements_.count_new.with(shares, id).run();
}

void Store::close_round(std::int64_t id) {
    assert(impl_->in_transaction());
    impl_->statements_.close_round.with(id).run();
}

void Store::add_alert(const RoundRow& round, domain::Timestamp now) {
    assert(impl_->in_transaction());
    // Nobody tells of a round whose shares all came through.
    assert(round.submitted < round.total);
    impl_->statements_.add_alert
        .with(round.id, round.total, round.submitted, round.failed, round.timed_out,
              round.unconfirmed, now)
        .run();
}

std::uint64_t Store::admitted_only(const RoundRow& round) {
    Statement& statement = impl_->statements_.admitted_only.with(round.vote_end, round.id);
    const bool is_there = statement.next();
    assert(is_there);
    const auto shares = static_cast<std::uint64_t>(is_there ? statement.integer(0) : 0);
    statement.finish();
    return shares;
}

std::vector<RoundRow> Store::open_alerts() {
    return read_rounds(impl_->statements_.open_alerts.with());
}

std::vector<RoundRow> Store::unlogged_alerts() {
    return read_rounds(impl_->statements_.unlogged_alerts.with());
}

std::optional<AlertRow> Store::find_alert(std::int64_t round) {
    Statement& statement = impl_->statements_.find_alert.with(round);
    std::optional<AlertRow> alert;
    if (statement.next()) {
        alert.emplace();
        alert->late = static_cast<std::uint64_t>(std::max(statement.integer(0), std::int64_t{0}));
        alert->taken = told(statement.integer(1));
        alert->logged = told(statement.integer(2));
    }
    statement.finish();
    return alert;
}

std::vector<std::int64_t> Store::rounds_with_late() {
    Statement& statement = impl_->statements_.rounds_with_late.with();
    std::vector<std::int64_t> rounds;
    while (statement.next()) rounds.push_back(statement.integer(0));
    return rounds;
}

void Store::mark_alert_logged(std::int64_t round, std::uint64_t late) {
    impl_->statements_.mark_alert_logged.with(round, late + 1).run();
}

void Store::take_alert(std::int64_t round, std::uint64_t late) {
    impl_->statements_.take_alert.with(round, late + 1).run();
}

void Store::insert_ended(const EndedShare& share) {
    Statements& statements = impl_->statements_;
    Row row{share.id, domain::Kind::share, Status::completed, share.since, {}, share.round};
    if (share.failure) row.status = Status::failure;
    assert(impl_->in_transaction() && domain::is_valid(share.id));
    std::optional<std::string> reason;
    std::optional<std::string> detail;
    if (share.failure) {
        reason = to_string(share.failure->reason);
        detail = share.failure->text;
    }
    statements.insert_ended
        .with(share.id.sequence, share.id.random, literal(to_string(row.status)),
              lane_number(Lane::ended_share),
              retention_start(statements.vote_end, row, share.since), share.since, share.attempts,
              share.round, dedup_prefix(share.key), share.key, share.content, reason, detail)
        .run();
    statements.count_new.with(1U, share.round).run();
    (share.failure ? statements.count_failed : statements.count_completed).with(share.round).run();
    impl_->note(row, {}, row.status, share.since);
}

}  // namespace store
