#include "store/row_checks.hpp"

#include <utility>
#include <variant>

#include "domain/request.hpp"
#include "domain/result.hpp"
#include "store/backup_file.hpp"
#include "store/database.hpp"
#include "store/row_columns.hpp"
#include "store/store_impl.hpp"

namespace store {

using domain::Kind;
using domain::Status;

namespace {

constexpr std::uint64_t rows_between_reports = 256;
// Behind those of the row.
constexpr int has_reference_column = row_column_count;
constexpr int reason_column = row_column_count + 1;
constexpr int dedup_column = row_column_count + 2;
constexpr int key_column = row_column_count + 3;

bool is_live(const Row& row) {
    return !domain::is_terminal(row.status);
}

bool may_be_in_flight(const Row& row) {
    return row.status == Status::processing || row.status == Status::tx_in_flight;
}

}  // namespace

RowChecks::RowChecks(SQLite::Database& database, FaultSink found)
    : database_(database),
      found_(std::move(found)),
      shares_are_sealed_(is_backup(database_) && read_meta(database_).salt),
      requests_(database_, "select " + row_columns +
                               ", reference is not null, reason, dedup, identity_key "
                               "from request order by id"),
      attempts_(database_, "select count(*), max(ordinal) from attempt where id = ?"),
      payload_(database_, "select body from payload where id = ?"),
      result_(database_, "select body from result where id = ?") {}

std::uint64_t RowChecks::run(const ports::Progress& progress) {
    Statement count(database_, "select count(*) from request");
    const auto total =
        count.with().next() ? static_cast<std::uint64_t>(count.integer(0)) : std::uint64_t{0};
    count.finish();
    std::uint64_t seen = 0;
    for (requests_.with(); requests_.next(); ++seen) {
        if (seen % rows_between_reports == 0) progress({"requests", seen, total});
        check_request();
    }
    progress({"requests", seen, total});
    check_rounds();
    check_pairs();
    return seen;
}

void RowChecks::check_request() {
    const std::variant<Row, BrokenRow> decoded = decode_row(requests_);
    if (const auto* broken = std::get_if<BrokenRow>(&decoded)) {
        if (broken->round) rounds_unsure_.insert(*broken->round);
        found_({"request " + std::to_string(broken->sequence), broken->problem});
        return;
    }
    const Row& row = std::get<Row>(decoded);
    check_identity(row);
    check_end(row);
    check_attempts(row);
    check_body(row);
    check_result(row);
    if (row.kind == Kind::share) check_share(row);
}

void RowChecks::check_identity(const Row& row) {
    if (requests_.is_null(dedup_column)) {
        if (is_live(row)) report(row, "it can not be found by its content (dedup)");
    } else if (requests_.integer(dedup_column) != dedup_prefix(requests_.bytes32(key_column))) {
        report(row, "its dedup is not that of its content");
    }
}

void RowChecks::check_end(const Row& row) {
    if (!requests_.is_null(reason_column) && !domain::reason_from(requests_.text(reason_column))) {
        report(row, "its reason is unknown");
    }
    const bool waits_for_answer = row.kind != Kind::share && row.status == Status::receipt_received;
    if (waits_for_answer && requests_.integer(has_reference_column) == 0) {
        report(row, "it waits for an answer and has no reference");
    }
}

RowChecks::Attempts RowChecks::attempts_of(std::int64_t id) {
    Attempts attempts;
    if (attempts_.with(id).next()) {
        attempts.count = attempts_.integer(0);
        attempts.in_order = attempts.count == 0 || attempts_.integer(1) == attempts.count - 1;
    }
    attempts_.finish();
    return attempts;
}

void RowChecks::check_attempts(const Row& row) {
    const Attempts stored = attempts_of(row.id.sequence);
    if (!stored.in_order) report(row, "one of its transactions is missing");
    const bool is_share = row.kind == Kind::share;
    const auto told = static_cast<std::int64_t>(row.schedule.attempts);
    if (is_share && !is_live(row) && stored.count > 0) {
        report(row, "it has ended and its transactions are still here");
    } else if (!is_share && may_be_in_flight(row) && stored.count != told) {
        report(row, "it counts " + std::to_string(told) + " transactions, stored are " +
                        std::to_string(stored.count));
    } else if (!is_share && row.status == Status::queued && stored.count > 0) {
        report(row, "it waits for readiness and has transactions");
    } else if (row.status == Status::tx_in_flight && stored.count == 0) {
        report(row, "it is in flight and has no transaction");
    } else if (!is_share && row.status == Status::receipt_received && stored.count == 0) {
        report(row, "it has a receipt and no transaction");
    }
}

void RowChecks::check_body(const Row& row) {
    const bool is_share = row.kind == Kind::share;
    const bool is_there = payload_.with(row.id.sequence).next();
    if (is_share && !is_live(row)) {
        if (is_there) report(row, "it has ended and its secrets are still here");
    } else if (!is_there) {
        report(row, "its content is missing");
    } else if (is_live(row) && !(is_share && shares_are_sealed_)) {
        const std::optional<domain::Request> request = domain::decode_request(payload_.blob(0));
        if (!request || domain::kind_of(*request) != row.kind) {
            report(row, "its content can not be read");
        } else if (const auto* share = std::get_if<domain::VoteShare>(&*request)) {
            const auto second = static_cast<std::int64_t>(share->submit_at) * 1'000;
            if (row.schedule.lane == Lane::schedule &&
                domain::unix_ms(row.schedule.wake) < second) {
                report(row, "it would leave before its second");
            }
        }
    }
    payload_.finish();
}

void RowChecks::check_result(const Row& row) {
    // Shares that ended elsewhere have none.
    if (row.status != Status::completed || row.kind == Kind::share) return;
    if (!result_.with(row.id.sequence).next()) {
        report(row, "its result is missing");
    } else if (!domain::decode_result(result_.blob(0))) {
        report(row, "its result can not be read");
    }
    result_.finish();
}

void RowChecks::check_share(const Row& row) {
    if (!row.round) {
        report(row, "a share of no round");
        return;
    }
    RoundTally& tally = rounds_[*row.round];
    if (is_live(row)) {
        ++tally.pending;
    } else {
        ++tally.ended[row.status];
    }
}

// Ended shares are purged, the numbers of their round stay.
void RowChecks::check_rounds() {
    Statement rounds(database_, "select id, total, submitted, failed, timed_out from round");
    for (rounds.with(); rounds.next();) {
        const std::int64_t id = rounds.integer(0);
        if (rounds_unsure_.contains(id)) continue;
        RoundTally& tally = rounds_[id];
        const auto at = [&rounds](int column) {
            return static_cast<std::uint64_t>(rounds.integer(column));
        };
        const auto ended = at(2) + at(3) + at(4);
        const auto fault = [&](const std::string& problem) {
            found_({"round " + std::to_string(id), problem});
        };
        if (at(1) != ended + tally.pending) {
            fault("it counts " + std::to_string(at(1)) + " shares of which " +
                  std::to_string(ended) + " have ended, and " + std::to_string(tally.pending) +
                  " wait");
        }
        const std::pair<Status, std::uint64_t> counted[] = {
            {Status::completed, at(2)}, {Status::failure, at(3)}, {Status::timed_out, at(4)}};
        for (const auto& [status, count] : counted) {
            if (tally.ended[status] <= count) continue;
            fault("it counts " + std::to_string(count) + " shares as " +
                  std::string(to_string(status)) + ", stored are " +
                  std::to_string(tally.ended[status]));
        }
    }
}

// What two rows may not have in common.
void RowChecks::check_pairs() {
    const auto look = [this](const std::string& select, const std::string& problem) {
        Statement pairs(database_, select);
        for (pairs.with(); pairs.next();) {
            found_({"request " + std::to_string(pairs.integer(0)),
                    problem + " as request " + std::to_string(pairs.integer(1))});
        }
    };
    look(
        "select max(id), min(id) from request where dedup is not null "
        "group by dedup, identity_key having count(*) > 1",
        "the same content");
    look(
        "select max(id), min(id) from attempt join request using (id) "
        "where lane in (1, 2) and status in ('processing', 'tx_in_flight') and kind <> 'share' "
        "and ordinal = (select max(ordinal) from attempt as other where other.id = request.id) "
        "group by nonce having count(*) > 1",
        "the same nonce");
    Statement holds(database_,
                    "select id from hold join request using (id) "
                    "where released = 0 and lane in (0, 1)");
    for (holds.with(); holds.next();) {
        found_({"request " + std::to_string(holds.integer(0)), "it is held and stands in a queue"});
    }
    Statement alerts(database_,
                     "select round from alert join round on id = round where closed = 0");
    for (alerts.with(); alerts.next();) {
        found_({"alert " + std::to_string(alerts.integer(0)), "its round is not closed"});
    }
    Statement cursors(database_, "select listener from cursor where position < 0");
    for (cursors.with(); cursors.next();) {
        found_({"cursor " + std::string(cursors.text(0)), "it is negative"});
    }
}

void RowChecks::report(const Row& row, const std::string& problem) {
    found_({"request " + std::to_string(row.id.sequence), std::string(to_string(row.kind)) + " " +
                                                              std::string(to_string(row.status)) +
                                                              ": " + problem});
}

}  // namespace store
