#include "store/store.hpp"
#include "store/open_errors.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <limits>
#include <string>
#include <system_error>
#include <utility>
#include <variant>

#include "store/store_impl.hpp"

namespace store {

using domain::Status;

namespace {

// The journal is what a commit is safe in.
Options relaxed(Options options) {
    options.synchronous = Synchronous::normal;
    return options;
}

}  // namespace

Store::Impl::Impl(const Options& options)
    : options_(options),
      file_(options_, Membership::none),
      reserve_(options_.directory / "posthouse.reserve", options_.reserve_bytes) {}

Store::Impl::Impl(const Options& options, CommitSink& sink)
    : options_(relaxed(options)),
      file_(options_, Membership::book),
      journaled_(std::make_unique<JournaledCommits>(database_, sink)),
      reserve_(options_.directory / "posthouse.reserve", options_.reserve_bytes) {}

void Store::Impl::note_synced(bool is_synced) {
    if (journaled_ && is_synced) synced_ = journaled_->position();
}

void Store::Impl::note(const Row& row, std::optional<Status> from, std::optional<Status> to,
                       domain::Timestamp now, const domain::Failure* failure) {
    assert(in_transaction());
    assert(!from || !to || domain::is_legal(row.kind, *from, *to));
    Change change{row.id.sequence, row.kind, from, to, {}, {}, {}, row.round};
    change.spent = std::max(domain::Milliseconds::zero(),
                            std::chrono::duration_cast<domain::Milliseconds>(now - row.since));
    if (failure != nullptr) {
        change.reason = failure->reason;
        change.selector = failure->selector;
    }
    changes_.push_back(change);
}

// Of shares nothing is kept: when they are revealed is nobody's business.
void Store::Impl::note_stage(const Row& row, const Step& step, domain::Timestamp now,
                             const domain::Failure* failure) {
    note(row, step.from, step.to, now, failure);
    if (row.kind == domain::Kind::share) return;
    statements_.add_history
        .with(row.id.sequence, literal(to_string(step.to)), now,
              literal(domain::to_string(step.cause)), "")
        .run();
}

std::optional<Row> Store::Impl::read_row(const Statement& statement) {
    std::variant<Row, BrokenRow> decoded = decode_row(statement);
    if (auto* row = std::get_if<Row>(&decoded)) return *row;
    broken_.push_back(std::move(std::get<BrokenRow>(decoded)));
    return std::nullopt;
}

std::vector<Row> Store::Impl::read_rows(Statement& statement) {
    std::vector<Row> rows;
    while (statement.next()) {
        if (auto row = read_row(statement)) rows.push_back(*row);
    }
    return rows;
}

// A round that is forgotten ends as its shares say.
domain::Timestamp retention_start(Statement& vote_end, const Row& row, domain::Timestamp now) {
    if (row.kind != domain::Kind::share) return now;
    domain::Timestamp start = std::max(now, row.schedule.deadline.value_or(now));
    if (row.round && vote_end.with(*row.round).next()) {
        start = std::max(start, domain::from_unix_ms(vote_end.integer(0)));
    }
    vote_end.finish();
    return start;
}

Store::Store(const Options& options) {
    try {
        impl_ = std::make_unique<Impl>(options);
    } catch (const SQLite::Exception& error) {
        throw to_storage_error(error, "opening " + database_path(options).string());
    }
}

Store::Store(const Options& options, CommitSink& sink) {
    try {
        impl_ = std::make_unique<Impl>(options, sink);
    } catch (const SQLite::Exception& error) {
        throw to_storage_error(error, "opening " + database_path(options).string());
    }
}

Store::~Store() = default;

Store::Transaction::Transaction(Store& store) : store_(store) {
    assert(!store_.impl_->in_transaction());
    store_.impl_->changes_.clear();
    store_.impl_->broken_.clear();
    if (store_.impl_->journaled_) store_.impl_->journaled_->begin();
    store_.impl_->statements_.begin.run();
    assert(store_.impl_->in_transaction());
}

void Store::Transaction::commit() {
    assert(open_);
    Statement& statement = store_.impl_->statements_.commit;
    if (store_.impl_->journaled_) {
        store_.impl_->journaled_->commit(statement);
    } else {
        statement.run();
    }
    open_ = false;
    // A statement that was not read to its end would keep its snapshot, and the log would grow.
    assert(sqlite3_txn_state(store_.impl_->database_.getHandle(), "main") == SQLITE_TXN_NONE);
}

Store::Transaction::~Transaction() {
    if (!open_) return;
    store_.impl_->changes_.clear();
    store_.impl_->broken_.clear();
    store_.impl_->file_.roll_back();
}

std::int64_t Store::last_sequence() {
    Statement& statement = impl_->statements_.last_sequence.with();
    const std::int64_t last = statement.next() ? statement.integer(0) : 0;
    statement.finish();
    return last;
}

namespace {

bool is_equal(domain::ByteView stored, const domain::Bytes32& given) {
    return stored.size() == given.size() &&
           std::memcmp(stored.data(), given.data(), given.size()) == 0;
}

// The two columns behind those of the row.
bool has_key(const Statement& statement, const domain::Identity& identity) {
    return is_equal(statement.blob(row_column_count), identity.key);
}

bool has_content(const Statement& statement, const domain::Identity& identity) {
    const bool own_content = !statement.is_null(row_column_count + 1);
    return !own_content || is_equal(statement.blob(row_column_count + 1), identity.content);
}

}  // namespace

std::optional<Duplicate> Store::find_duplicate(const domain::Identity& identity) {
    Statement& statement = impl_->statements_.find_duplicate.with(dedup_prefix(identity.key));
    std::optional<Duplicate> duplicate;
    while (!duplicate && statement.next()) {
        if (!has_key(statement, identity)) continue;
        if (const auto row = impl_->read_row(statement)) {
            duplicate = Duplicate{*row, has_content(statement, identity)};
        }
    }
    statement.finish();
    return duplicate;
}

std::optional<Duplicate> Store::find_by_key(const domain::Bytes32& key,
                                            const domain::Identity& identity) {
    Statement& statement = impl_->statements_.find_by_key.with(key);
    std::optional<Duplicate> duplicate;
    if (statement.next()) {
        if (const auto row = impl_->read_row(statement)) {
            duplicate =
                Duplicate{*row, has_key(statement, identity) && has_content(statement, identity)};
        }
    }
    statement.finish();
    return duplicate;
}

void Store::remember_key(const domain::Bytes32& key, std::int64_t sequence) {
    assert(impl_->in_transaction());
    impl_->statements_.remember_key.with(key, sequence).run();
}

void Store::insert(const NewRequest& request) {
    const Row& row = request.row;
    assert(row.status == domain::first_status(row.kind));
    assert(!problem_of(row));
    const bool own_content = request.identity.content != request.identity.key;
    impl_->statements_.insert
        .with(row.id.sequence, row.id.random, literal(to_string(row.kind)),
              literal(to_string(row.status)), lane_number(row.schedule.lane), row.schedule.wake,
              row.since, milliseconds_or_zero(row.schedule.deadline), row.schedule.claims,
              row.schedule.attempts, row.schedule.faults, row.round, row.client,
              milliseconds_or_zero(row.schedule.unreached_since),
              milliseconds_or_zero(row.schedule.refused_since), dedup_prefix(request.identity.key),
              request.identity.key,
              own_content ? std::optional(request.identity.content) : std::nullopt)
        .run();
    impl_->statements_.insert_payload.with(row.id.sequence, request.payload).run();
    impl_->note(row, {}, row.status, row.since);
}

std::optional<Row> Store::load(std::int64_t sequence) {
    Statement& statement = impl_->statements_.load.with(sequence);
    std::optional<Row> row;
    if (statement.next()) row = impl_->read_row(statement);
    statement.finish();
    return row;
}

std::optional<domain::Bytes32> Store::reference(std::int64_t sequence) {
    Statement& statement = impl_->statements_.reference.with(sequence);
    std::optional<domain::Bytes32> reference;
    if (statement.next()) reference = statement.bytes32(0);
    statement.finish();
    return reference;
}

std::optional<Row> Store::find_by_reference(const domain::Bytes32& reference) {
    Statement& statement = impl_->statements_.by_reference.with(reference);
    std::optional<Row> row;
    if (statement.next()) row = impl_->read_row(statement);
    statement.finish();
    return row;
}

std::optional<domain::Bytes> Store::payload(std::int64_t sequence) {
    Statement& statement = impl_->statements_.payload.with(sequence);
    std::optional<domain::Bytes> body;
    if (statement.next()) body = statement.bytes(0);
    statement.finish();
    return body;
}

std::vector<Row> Store::due(Lane lane, domain::Timestamp now, std::size_t limit) {
    return impl_->read_rows(impl_->statements_.due.with(lane_number(lane), now, limit));
}

std::size_t Store::count_due(Lane lane, domain::Timestamp now, std::size_t limit) {
    Statement& statement = impl_->statements_.count_due.with(lane_number(lane), now, limit);
    const std::int64_t rows = statement.next() ? statement.integer(0) : 0;
    statement.finish();
    return static_cast<std::size_t>(rows);
}

std::vector<Row> Store::tried_shares(domain::Timestamp latest) {
    return impl_->read_rows(impl_->statements_.tried_shares.with(latest));
}

std::vector<Row> Store::standing_in(Lane lane) {
    return impl_->read_rows(impl_->statements_.standing_in.with(lane_number(lane)));
}

std::optional<domain::Timestamp> Store::earliest_wake(Lane lane) {
    Statement& statement = impl_->statements_.earliest_wake.with(lane_number(lane));
    std::optional<domain::Timestamp> wake;
    if (statement.next() && !statement.is_null(0)) {
        wake = domain::from_unix_ms(statement.integer(0));
    }
    statement.finish();
    return wake;
}

bool Store::reschedule(const Row& row, Status in, const Schedule& schedule) {
    assert(impl_->in_transaction());
    assert(may_stand_in(schedule.lane, row.kind, in));
    return impl_->statements_.reschedule
               .with(lane_number(schedule.lane), schedule.wake,
                     milliseconds_or_zero(schedule.deadline), schedule.claims, schedule.attempts,
                     schedule.faults, milliseconds_or_zero(schedule.unreached_since),
                     milliseconds_or_zero(schedule.refused_since), row.id.sequence,
                     literal(to_string(in)))
               .run() == 1;
}

bool Store::move(const Row& row, Step step, const Schedule& schedule, domain::Timestamp now) {
    assert(domain::is_legal(row.kind, step.from, step.to, step.cause));
    assert(!domain::is_terminal(step.to));
    assert(may_stand_in(schedule.lane, row.kind, step.to));
    const int changed =
        impl_->statements_.move
            .with(literal(to_string(step.to)), now, lane_number(schedule.lane), schedule.wake,
                  milliseconds_or_zero(schedule.deadline), schedule.claims, schedule.attempts,
                  schedule.faults, milliseconds_or_zero(schedule.unreached_since),
                  milliseconds_or_zero(schedule.refused_since), row.id.sequence,
                  literal(to_string(step.from)))
            .run();
    if (changed != 1) return false;
    impl_->note_stage(row, step, now);
    return true;
}

bool Store::receive(const Row& row, const std::optional<domain::Bytes32>& reference,
                    const Schedule& schedule, domain::Timestamp now) {
    assert(may_stand_in(schedule.lane, row.kind, Status::receipt_received));
    const int changed =
        impl_->statements_.receive
            .with(now, lane_number(schedule.lane), schedule.wake,
                  milliseconds_or_zero(schedule.deadline), reference, row.id.sequence)
            .run();
    if (changed != 1) return false;
    impl_->note_stage(row, {Status::tx_in_flight, Status::receipt_received, domain::Cause::receipt},
                      now);
    return true;
}

bool Store::send_back(const Row& row, const Schedule& schedule, domain::Timestamp now) {
    assert(may_stand_in(schedule.lane, row.kind, Status::tx_in_flight));
    const int changed = impl_->statements_.send_back
                            .with(now, lane_number(schedule.lane), schedule.wake, schedule.attempts,
                                  row.id.sequence)
                            .run();
    if (changed != 1) return false;
    impl_->note(row, Status::receipt_received, Status::tx_in_flight, now);
    return true;
}

bool Store::complete(const Row& row, std::optional<domain::ByteView> result,
                     domain::Timestamp now) {
    assert(domain::is_legal(row.kind, Status::receipt_received, Status::completed));
    Statements& statements = impl_->statements_;
    const Lane lane = ended_lane(domain::family_of(row.kind));
    const domain::Timestamp start = retention_start(statements.vote_end, row, now);
    if (statements.complete.with(now, lane_number(lane), start, row.id.sequence).run() != 1) {
        return false;
    }
    if (result) keep_result(row.id.sequence, *result);
    if (row.kind == domain::Kind::share) {
        statements.wipe_payload.with(row.id.sequence).run();
        statements.purge_attempts.with(row.id.sequence).run();
        impl_->file_.note_wiped();
    } else {
        statements.settle_buried.with(row.id.sequence).run();
    }
    if (row.round) statements.count_completed.with(*row.round).run();
    impl_->note_stage(row, {Status::receipt_received, Status::completed, domain::Cause::answered},
                      now);
    return true;
}

void Store::keep_result(std::int64_t sequence, domain::ByteView result) {
    assert(impl_->in_transaction());
    impl_->statements_.keep_result.with(sequence, result).run();
}

bool Store::fail(const Row& row, Step step, const domain::Failure& failure, domain::Timestamp now) {
    assert(domain::is_legal(row.kind, step.from, step.to, step.cause));
    assert(domain::is_terminal(step.to) && step.to != Status::completed);
    Statements& statements = impl_->statements_;
    const Lane lane = ended_lane(domain::family_of(row.kind));
    const domain::Timestamp start = retention_start(statements.vote_end, row, now);
    // A failed share keeps its key until its round is over; a failed request may be asked again.
    const bool keeps_key = row.kind == domain::Kind::share && step.to == Status::failure;
    const int changed =
        statements.fail
            .with(literal(to_string(step.to)), now, lane_number(lane), start,
                  literal(to_string(failure.reason)), failure.text, failure.selector,
                  std::int64_t{keeps_key}, row.id.sequence, literal(to_string(step.from)))
            .run();
    if (changed != 1) return false;
    if (row.kind == domain::Kind::share) {
        statements.wipe_payload.with(row.id.sequence).run();
        statements.purge_attempts.with(row.id.sequence).run();
        impl_->file_.note_wiped();
    } else {
        statements.settle_buried.with(row.id.sequence).run();
    }
    if (row.round) {
        Statement& count =
            step.to == Status::timed_out ? statements.count_timed_out : statements.count_failed;
        count.with(*row.round).run();
    }
    impl_->note_stage(row, step, now, &failure);
    return true;
}

std::vector<BrokenRow> Store::take_broken() {
    std::vector<BrokenRow> broken = std::exchange(impl_->broken_, {});
    // Several reads may have come upon the same one.
    std::ranges::sort(broken, {}, &BrokenRow::sequence);
    const auto same = [](const BrokenRow& one, const BrokenRow& other) {
        return one.sequence == other.sequence;
    };
    broken.erase(std::unique(broken.begin(), broken.end(), same), broken.end());
    return broken;
}

void Store::end_broken(const BrokenRow& row, const std::string& text, domain::Timestamp now) {
    assert(impl_->in_transaction());
    Statements& statements = impl_->statements_;
    // Of a kind that is not known: kept as long as what is kept longest.
    const Lane lane =
        row.kind ? ended_lane(domain::family_of(*row.kind)) : Lane::ended_public_decrypt;
    statements.end_broken
        .with(now, lane_number(lane), literal(to_string(domain::Reason::undecodable)), text,
              row.sequence)
        .run();
    const bool is_share = row.kind == domain::Kind::share;
    if (is_share || !row.kind) {
        // It may hold the witness of a share.
        statements.wipe_payload.with(row.sequence).run();
        statements.purge_attempts.with(row.sequence).run();
        impl_->file_.note_wiped();
    }
    const bool was_counted = row.status && domain::is_terminal(*row.status);
    if (is_share && row.round && !was_counted) statements.count_failed.with(*row.round).run();
    if (!row.kind || !row.status) return;
    Change change{row.sequence, *row.kind, row.status, domain::Status::failure,
                  {},           {},        {},         row.round};
    change.reason = domain::Reason::undecodable;
    impl_->changes_.push_back(change);
}

void Store::note_trouble(std::int64_t sequence, const HistoryEntry& entry) {
    assert(impl_->in_transaction());
    impl_->statements_.note_trouble.with(sequence, entry.at, entry.cause, entry.note).run();
}

std::optional<std::int64_t> Store::put_off(domain::Kind kind, domain::Milliseconds by,
                                           std::int64_t after, std::size_t limit) {
    assert(impl_->in_transaction());
    Statements& statements = impl_->statements_;
    const char* name = literal(to_string(kind));
    std::optional<std::int64_t> last;
    statements.last_to_put_off.with(name, after, limit);
    if (statements.last_to_put_off.next() && !statements.last_to_put_off.is_null(0)) {
        last = statements.last_to_put_off.integer(0);
    }
    statements.last_to_put_off.finish();
    if (last) statements.put_off.with(std::int64_t{by.count()}, name, after, *last).run();
    return last;
}

void Store::add_history(std::int64_t sequence, const HistoryEntry& entry) {
    assert(impl_->in_transaction());
    impl_->statements_.add_history.with(sequence, entry.stage, entry.at, entry.cause, entry.note)
        .run();
}

std::optional<std::uint64_t> Store::cursor(std::string_view listener) {
    const std::string name(listener);
    Statement& statement = impl_->statements_.cursor.with(name);
    if (!statement.next()) return std::nullopt;
    const auto position = static_cast<std::uint64_t>(statement.integer(0));
    statement.finish();
    return position;
}

std::map<std::string, std::uint64_t> Store::cursors() {
    Statement& statement = impl_->statements_.cursors.with();
    std::map<std::string, std::uint64_t> cursors;
    while (statement.next()) {
        cursors.emplace(statement.text(0), static_cast<std::uint64_t>(statement.integer(1)));
    }
    return cursors;
}

void Store::set_cursor(std::string_view listener, std::uint64_t position) {
    const std::string name(listener);
    assert(impl_->in_transaction());
    impl_->statements_.set_cursor.with(name, position).run();
}

std::size_t Store::purge(Lane lane, domain::Timestamp before, std::size_t limit) {
    assert(impl_->in_transaction());
    assert(lane_number(lane) >= lane_number(Lane::ended_input_proof));
    Statements& statements = impl_->statements_;
    domain::Timestamp below = before;
    if (lane == Lane::ended_share) {
        // A round counts its shares when it closes, and none lies before its end.
        if (const auto first_open = next_round_end({})) below = std::min(below, *first_open);
    }
    std::vector<std::variant<Row, BrokenRow>> rows;
    statements.purgeable.with(lane_number(lane), below, limit);
    while (statements.purgeable.next()) rows.push_back(decode_row(statements.purgeable));
    for (const auto& decoded : rows) {
        const auto* row = std::get_if<Row>(&decoded);
        const std::int64_t id =
            row != nullptr ? row->id.sequence : std::get<BrokenRow>(decoded).sequence;
        statements.purge_keys.with(id).run();
        statements.purge_history.with(id).run();
        statements.purge_hold.with(id).run();
        statements.purge_attempts.with(id).run();
        statements.purge_result.with(id).run();
        statements.wipe_payload.with(id).run();
        statements.purge_request.with(id).run();
        if (row != nullptr) impl_->note(*row, row->status, {}, before);
    }
    if (!rows.empty()) impl_->file_.note_wiped();
    return rows.size();
}

std::vector<Setting> Store::settings() {
    Statement& statement = impl_->statements_.settings.with();
    std::vector<Setting> settings;
    while (statement.next()) {
        settings.push_back({std::string(statement.text(0)), std::string(statement.text(1))});
    }
    return settings;
}

void Store::set(const Setting& setting) {
    impl_->statements_.set.with(setting.name, setting.value).run();
}

void Store::unset(const std::string& name) {
    impl_->statements_.unset.with(name).run();
}

std::optional<std::string> Store::note(const std::string& name) {
    Statement& statement = impl_->statements_.find_note.with(name);
    std::optional<std::string> value;
    if (statement.next()) value = std::string(statement.text(0));
    statement.finish();
    return value;
}

void Store::keep_note(const std::string& name, const std::string& value) {
    assert(impl_->in_transaction());
    impl_->statements_.keep_note.with(name, value).run();
}

void Store::drop_note(const std::string& name) {
    assert(impl_->in_transaction());
    impl_->statements_.drop_note.with(name).run();
}

std::vector<Hold> Store::holds() {
    Statement& statement = impl_->statements_.holds.with();
    std::vector<Hold> holds;
    while (statement.next()) {
        holds.push_back({statement.integer(0), domain::from_unix_ms(statement.integer(1)),
                         statement.integer(2) != 0});
    }
    return holds;
}

void Store::hold(std::int64_t sequence, domain::Timestamp since) {
    assert(impl_->in_transaction());
    impl_->statements_.hold.with(sequence, since).run();
}

void Store::release_hold(std::int64_t sequence) {
    assert(impl_->in_transaction());
    impl_->statements_.release_hold.with(sequence).run();
}

std::optional<std::uint64_t> Store::mark(std::string_view name) {
    return cursor(cursor_of_mark(name));
}

std::map<std::string, std::uint64_t> Store::marks() {
    Statement& statement = impl_->statements_.marks.with();
    const std::size_t prefix = cursor_of_mark({}).size();
    std::map<std::string, std::uint64_t> marks;
    while (statement.next()) {
        marks.emplace(statement.text(0).substr(prefix),
                      static_cast<std::uint64_t>(statement.integer(1)));
    }
    return marks;
}

void Store::set_mark(std::string_view name, std::uint64_t value) {
    set_cursor(cursor_of_mark(name), value);
}

void Store::drop_mark(std::string_view name) {
    assert(impl_->in_transaction());
    impl_->statements_.drop_cursor.with(cursor_of_mark(name)).run();
}

std::vector<Change> Store::take_changes() {
    return std::exchange(impl_->changes_, {});
}

std::uint64_t Store::wal_bytes() const {
    return impl_->file_.wal_bytes();
}

void Store::checkpoint() {
    impl_->note_synced(impl_->file_.checkpoint());
}

void Store::truncate_wal() {
    impl_->note_synced(impl_->file_.truncate_wal());
}

bool Store::wal_holds_wiped_data() const {
    return impl_->file_.wal_holds_wiped_data();
}

void Store::require_in_place() const {
    impl_->file_.require_in_place();
}

void Store::probe() {
    Transaction transaction(*this);
    impl_->statements_.probe.with().run();
    transaction.commit();
}

bool Store::release_reserve() {
    return impl_->reserve_.release();
}

bool Store::restore_reserve() {
    return impl_->reserve_.restore();
}

const Options& Store::options() const {
    return impl_->options_;
}

std::uint64_t Store::changed_bytes() const {
    return impl_->journaled_ ? impl_->journaled_->changed_bytes() : 0;
}

bool Store::has_room() const {
    return !impl_->journaled_ || impl_->journaled_->changed_bytes() < full_bytes;
}

std::size_t Store::value_bytes_max() const {
    return impl_->journaled_ ? store::value_bytes_max : std::numeric_limits<std::size_t>::max();
}

std::optional<JournalPosition> Store::position() const {
    if (!impl_->journaled_) return std::nullopt;
    return impl_->journaled_->position();
}

std::optional<JournalPosition> Store::synced_position() const {
    return impl_->synced_;
}

std::string Store::version() {
    const int number = sqlite3_libversion_number();
    // Fixed in 3.51.3 and in the branches 3.50 (from .7) and 3.44 (from .6).
    const bool fixed = number >= 3051003 || (number >= 3050007 && number < 3051000) ||
                       (number >= 3044006 && number < 3045000);
    return std::string("SQLite ") + sqlite3_libversion() +
           (fixed ? " (WAL-reset bug fixed)"
                  : " (in the range of the WAL-reset bug; immune: one connection writes and "
                    "checkpoints)");
}

}  // namespace store
