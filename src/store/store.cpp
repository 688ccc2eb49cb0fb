#include "store/store.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

#include "store/database.hpp"
#include "store/owner_lock.hpp"
#include "store/place.hpp"
#include "store/reserve.hpp"
#include "store/row_columns.hpp"
#include "store/statement.hpp"

namespace store {

namespace {

using domain::Status;

const char* literal(std::string_view constant) {
    return constant.data();
}

std::int64_t milliseconds_or_zero(const std::optional<domain::Timestamp>& time) {
    return time ? domain::unix_ms(*time) : 0;
}

const std::string unclaimed =
    "not exists (select 1 from request where request.reference = answer.reference "
    "and request.status = 'receipt_received')";

// First 8 bytes, big endian: enough to find the few rows worth comparing.
std::int64_t dedup_prefix(const domain::Bytes32& key) {
    std::uint64_t prefix = 0;
    for (std::size_t i = 0; i < 8; ++i) prefix = prefix << 8 | key[i];
    return static_cast<std::int64_t>(prefix);
}

std::int64_t lane_number(Lane lane) {
    return static_cast<std::int64_t>(lane);
}

Options prepared(const Options& options) {
    std::error_code error;
    const bool missing = !std::filesystem::exists(options.directory, error);
    std::filesystem::create_directories(options.directory, error);
    if (!error && missing) {
        std::filesystem::permissions(options.directory, std::filesystem::perms::owner_all, error);
    }
    if (error) {
        throw OpenError("can not create the data directory " + options.directory.string() + ": " +
                        error.message());
    }
    return options;
}

// Where the database really is: it may be reached by several links.
std::filesystem::path real_path(const Options& options) {
    std::error_code unreadable;
    const auto path = std::filesystem::weakly_canonical(database_path(options), unreadable);
    return unreadable ? database_path(options) : path;
}

// What the last process left in its log; may count some frames that are overwritten already.
std::uint64_t log_left_behind(const Options& options) {
    std::error_code missing;
    const std::uint64_t bytes =
        std::filesystem::file_size(real_path(options).string() + "-wal", missing);
    return missing ? 0 : bytes;
}

domain::Bytes32 bytes32(const Statement& statement, int column) {
    const domain::ByteView stored = statement.blob(column);
    domain::Bytes32 bytes{};
    assert(stored.size() == bytes.size());
    std::copy(stored.begin(), stored.end(), bytes.begin());
    return bytes;
}

Attempt attempt_without_bytes(const Statement& statement) {
    Attempt attempt;
    attempt.nonce = static_cast<std::uint64_t>(statement.integer(0));
    attempt.hash = bytes32(statement, 1);
    attempt.at = domain::from_unix_ms(statement.integer(2));
    return attempt;
}

}  // namespace

struct Store::Statements {
    explicit Statements(SQLite::Database& db) : db_(db) {}

    SQLite::Database& db_;

    Statement begin{db_, "begin immediate"};
    Statement commit{db_, "commit"};
    Statement last_sequence{db_, "select max(id) from request"};
    Statement find_twin{db_, "select " + row_columns +
                                 ", identity_key, identity_content from request where dedup = ?"};
    Statement insert{db_, "insert into request (" + row_columns +
                              ", dedup, identity_key, identity_content) "
                              "values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};
    Statement insert_payload{db_, "insert into payload (id, body) values (?, ?)"};
    Statement find_by_key{db_, "select " + row_columns +
                                   ", identity_key, identity_content from request where id = "
                                   "(select request from idempotency where key = ?)"};
    Statement remember_key{db_, "insert into idempotency (key, request) values (?, ?)"};
    Statement settings{db_, "select name, value from setting order by name"};
    Statement set{db_,
                  "insert into setting (name, value) values (?1, ?2) "
                  "on conflict (name) do update set value = ?2"};
    Statement unset{db_, "delete from setting where name = ?"};
    Statement load{db_, "select " + row_columns + " from request where id = ?"};
    // A chain that was reset gives its ids out again: the one that still waits is meant.
    Statement by_reference{db_, "select " + row_columns +
                                    " from request where reference = ? "
                                    "order by status = 'receipt_received' desc, id desc limit 1"};
    Statement reference{db_,
                        "select reference from request where id = ? and reference is not null"};
    Statement payload{db_, "select body from payload where id = ?"};
    Statement wipe_payload{db_, "delete from payload where id = ?"};
    Statement due{db_, "select " + row_columns +
                           " from request where lane = ? and wake_ms <= ? "
                           "order by wake_ms, id limit ?"};
    // The unary plus keeps the planner on the lane index and off the primary key.
    Statement standing_in{db_,
                          "select " + row_columns + " from request where lane = ? order by +id"};
    Statement earliest_wake{db_, "select min(wake_ms) from request where lane = ?"};
    Statement reschedule{db_,
                         "update request set lane = ?, wake_ms = ?, deadline_ms = ?, claims = ?, "
                         "attempts = ?, faults = ? where id = ? and status = ?"};
    Statement move{db_,
                   "update request set status = ?, status_ms = ?, lane = ?, wake_ms = ?, "
                   "deadline_ms = ?, claims = ?, attempts = ?, faults = ? "
                   "where id = ? and status = ?"};
    Statement receive{db_,
                      "update request set status = 'receipt_received', status_ms = ?, lane = ?, "
                      "wake_ms = ?, deadline_ms = ?, claims = 0, attempts = 0, faults = 0, "
                      "reference = ? where id = ? and status = 'tx_in_flight'"};
    Statement complete{db_,
                       "update request set status = 'completed', status_ms = ?, lane = ?, "
                       "wake_ms = ?, deadline_ms = 0, claims = 0 "
                       "where id = ? and status = 'receipt_received'"};
    Statement fail{db_,
                   "update request set status = ?, status_ms = ?, lane = ?, wake_ms = ?, "
                   "deadline_ms = 0, claims = 0, reason = ?, detail = ?, selector = ?, "
                   "dedup = iif(? = 0, null, dedup) where id = ? and status = ?"};
    Statement insert_result{db_, "insert into result (id, body) values (?, ?)"};
    Statement count_completed{db_, "update round set submitted = submitted + 1 where id = ?"};
    Statement count_failed{db_, "update round set failed = failed + 1 where id = ?"};
    Statement count_timed_out{db_, "update round set timed_out = timed_out + 1 where id = ?"};
    Statement count_new{db_, "update round set total = total + ? where id = ?"};
    Statement vote_end{db_, "select vote_end_ms from round where id = ?"};
    Statement add_attempt{db_,
                          "insert into attempt (id, ordinal, nonce, hash, sealed, sealed_ms) "
                          "values (?1, (select count(*) from attempt where id = ?1), ?2, ?3, ?4, "
                          "?5)"};
    Statement attempts{db_,
                       "select nonce, hash, sealed_ms, sealed from attempt where id = ? "
                       "order by ordinal"};
    Statement attempts_in_work{
        db_,
        "select nonce, hash, sealed_ms from attempt where id in "
        "(select id from request where lane in (1, 2) and status in ('processing', 'tx_in_flight') "
        "and kind <> 'share') order by nonce"};
    Statement hold_answer{db_,
                          "insert or ignore into answer (reference, slot, body, arrived_ms) "
                          "values (?, ?, ?, ?)"};
    Statement held_answers{db_,
                           "select slot, body from answer where reference = ? order by position"};
    Statement drop_answers{db_, "delete from answer where reference = ?"};
    // Shares of a request that waits with its receipt are no orphans.
    Statement trim_old{db_,
                       "delete from answer where position in (select position from answer "
                       "where arrived_ms < ? and " +
                           unclaimed + " order by position limit ?)"};
    Statement trim_many{db_,
                        "delete from answer where position in (select position from answer where " +
                            unclaimed +
                            " order by position limit max(0, min(?2, (select count(*) from answer) "
                            "- ?1)))"};
    Statement cursor{db_, "select position from cursor where listener = ?"};
    Statement cursors{db_, "select listener, position from cursor where listener <> 'probe'"};
    Statement set_cursor{db_,
                         "insert into cursor (listener, position) values (?1, ?2) "
                         "on conflict (listener) do update set position = ?2"};
    Statement find_round{db_, "select id from round where round_id = ?"};
    Statement insert_round{db_, "insert into round (round_id, vote_end_ms) values (?, ?)"};
    Statement rounds_over{db_,
                          "select id, round_id, vote_end_ms, total, submitted, failed, timed_out "
                          "from round where closed = 0 and vote_end_ms < ? order by id limit ?"};
    Statement close_round{db_, "update round set closed = 1 where id = ?"};
    Statement purgeable{
        db_, "select " + row_columns +
                 " from request where lane = ? and wake_ms < ? order by wake_ms limit ?"};
    Statement purge_keys{db_, "delete from idempotency where request = ?"};
    Statement purge_attempts{db_, "delete from attempt where id = ?"};
    Statement purge_result{db_, "delete from result where id = ?"};
    Statement purge_request{db_, "delete from request where id = ?"};
};

class Store::Impl {
public:
    explicit Impl(const Options& options)
        : options_(prepared(options)),
          lock_(real_path(options_).parent_path()),
          log_at_start_(log_left_behind(options_)),
          database_(open_for_writing(options_)),
          statements_(*database_),
          reserve_(options_.directory / "posthouse.reserve", options_.reserve_bytes) {
        sqlite3_wal_hook(
            database_->getHandle(),
            [](void* self, sqlite3*, const char*, int pages) {
                static_cast<Impl*>(self)->wal_pages_ = pages;
                return SQLITE_OK;
            },
            this);
        page_bytes_ =
            static_cast<std::uint64_t>(database_->execAndGet("pragma page_size").getInt64());
        wal_pages_ = static_cast<int>(log_at_start_ / page_bytes_);
    }

    ~Impl() {
        // The closing connection writes the WAL back; readers are gone by then.
        sqlite3_wal_hook(database_->getHandle(), nullptr, nullptr);
    }

    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    void checkpoint(int mode) {
        int wal_frames = 0;
        int copied_frames = 0;
        const int code = sqlite3_wal_checkpoint_v2(database_->getHandle(), "main", mode,
                                                   &wal_frames, &copied_frames);
        if (code == SQLITE_OK) {
            wal_pages_ = wal_frames - copied_frames;
        } else if (code != SQLITE_BUSY && code != SQLITE_LOCKED) {
            throw to_storage_error(SQLite::Exception(database_->getHandle(), code), "checkpoint");
        }
        if (mode == SQLITE_CHECKPOINT_TRUNCATE && code == SQLITE_OK) wiped_ = false;
    }

    void note(const Row& row, std::optional<Status> from, std::optional<Status> to,
              domain::Timestamp now, const domain::Failure* failure = nullptr) {
        Change change{row.id.sequence, row.kind, from, to, {}, {}, {}};
        change.spent = std::max(domain::Milliseconds::zero(),
                                std::chrono::duration_cast<domain::Milliseconds>(now - row.since));
        if (failure != nullptr) {
            change.reason = failure->reason;
            change.selector = failure->selector;
        }
        changes_.push_back(change);
    }

    const Options options_;
    OwnerLock lock_;
    const std::uint64_t log_at_start_;
    std::unique_ptr<SQLite::Database> database_;
    Statements statements_;
    Reserve reserve_;
    const Place database_place_{real_path(options_)};
    const Place lock_place_{real_path(options_).parent_path() / "posthouse.lock"};
    std::uint64_t page_bytes_ = 4096;
    int wal_pages_ = 0;
    std::vector<Change> changes_;
    bool wiped_ = log_at_start_ > 0;  // nobody knows what is in there
};

Store::Store(const Options& options) {
    try {
        impl_ = std::make_unique<Impl>(options);
    } catch (const SQLite::Exception& error) {
        throw to_storage_error(error, "opening " + database_path(options).string());
    }
}

Store::~Store() = default;

Store::Transaction::Transaction(Store& store) : store_(store) {
    store_.impl_->changes_.clear();
    store_.impl_->statements_.begin.run();
}

void Store::Transaction::commit() {
    store_.impl_->statements_.commit.run();
    open_ = false;
}

Store::Transaction::~Transaction() {
    if (!open_) return;
    store_.impl_->changes_.clear();
    // After an I/O or full error SQLite has rolled back by itself; a second rollback would fail and
    // hide the first cause.
    sqlite3* handle = store_.impl_->database_->getHandle();
    if (sqlite3_get_autocommit(handle) == 0) {
        sqlite3_exec(handle, "rollback", nullptr, nullptr, nullptr);
    }
}

std::int64_t Store::last_sequence() {
    Statement& statement = impl_->statements_.last_sequence.with();
    const std::int64_t last = statement.next() ? statement.integer(0) : 0;
    statement.finish();
    return last;
}

namespace {

bool is_equal(domain::ByteView stored, const domain::Bytes32& given) {
    assert(stored.size() == given.size());
    return std::memcmp(stored.data(), given.data(), given.size()) == 0;
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

std::optional<Twin> Store::find_twin(const domain::Identity& identity) {
    Statement& statement = impl_->statements_.find_twin.with(dedup_prefix(identity.key));
    std::optional<Twin> twin;
    while (!twin && statement.next()) {
        if (!has_key(statement, identity)) continue;
        twin = Twin{read_row(statement), has_content(statement, identity)};
    }
    statement.finish();
    return twin;
}

std::optional<Twin> Store::find_by_key(const domain::Bytes32& key,
                                       const domain::Identity& identity) {
    Statement& statement = impl_->statements_.find_by_key.with(key);
    std::optional<Twin> twin;
    if (statement.next()) {
        twin = Twin{read_row(statement),
                    has_key(statement, identity) && has_content(statement, identity)};
    }
    statement.finish();
    return twin;
}

void Store::remember_key(const domain::Bytes32& key, std::int64_t sequence) {
    impl_->statements_.remember_key.with(key, sequence).run();
}

void Store::insert(const NewRequest& request) {
    const Row& row = request.row;
    assert(row.status == domain::first_status(row.kind));
    const bool own_content = request.identity.content != request.identity.key;
    impl_->statements_.insert
        .with(row.id.sequence, row.id.random, literal(to_string(row.kind)),
              literal(to_string(row.status)), lane_number(row.schedule.lane), row.schedule.wake,
              row.since, milliseconds_or_zero(row.schedule.deadline), row.schedule.claims,
              row.schedule.attempts, row.schedule.faults, row.round, row.client,
              dedup_prefix(request.identity.key), request.identity.key,
              own_content ? std::optional(request.identity.content) : std::nullopt)
        .run();
    impl_->statements_.insert_payload.with(row.id.sequence, request.payload).run();
    impl_->note(row, {}, row.status, row.since);
}

std::optional<Row> Store::load(std::int64_t sequence) {
    Statement& statement = impl_->statements_.load.with(sequence);
    std::optional<Row> row;
    if (statement.next()) row = read_row(statement);
    statement.finish();
    return row;
}

std::optional<domain::Bytes32> Store::reference(std::int64_t sequence) {
    Statement& statement = impl_->statements_.reference.with(sequence);
    if (!statement.next()) return std::nullopt;
    return bytes32(statement, 0);
}

std::optional<Row> Store::find_by_reference(const domain::Bytes32& reference) {
    Statement& statement = impl_->statements_.by_reference.with(reference);
    std::optional<Row> row;
    if (statement.next()) row = read_row(statement);
    statement.finish();
    return row;
}

std::optional<domain::Bytes> Store::payload(std::int64_t sequence) {
    Statement& statement = impl_->statements_.payload.with(sequence);
    std::optional<domain::Bytes> body;
    if (statement.next()) {
        const domain::ByteView bytes = statement.blob(0);
        body.emplace(bytes.begin(), bytes.end());
    }
    statement.finish();
    return body;
}

std::vector<Row> Store::due(Lane lane, domain::Timestamp now, std::size_t limit) {
    Statement& statement = impl_->statements_.due.with(lane_number(lane), now, limit);
    std::vector<Row> rows;
    while (statement.next()) rows.push_back(read_row(statement));
    return rows;
}

std::vector<Row> Store::standing_in(Lane lane) {
    Statement& statement = impl_->statements_.standing_in.with(lane_number(lane));
    std::vector<Row> rows;
    while (statement.next()) rows.push_back(read_row(statement));
    return rows;
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
    return impl_->statements_.reschedule
               .with(lane_number(schedule.lane), schedule.wake,
                     milliseconds_or_zero(schedule.deadline), schedule.claims, schedule.attempts,
                     schedule.faults, row.id.sequence, literal(to_string(in)))
               .run() == 1;
}

bool Store::move(const Row& row, Step step, const Schedule& schedule, domain::Timestamp now) {
    assert(domain::is_legal(row.kind, step.from, step.to, step.cause));
    assert(!domain::is_terminal(step.to));
    const int changed =
        impl_->statements_.move
            .with(literal(to_string(step.to)), now, lane_number(schedule.lane), schedule.wake,
                  milliseconds_or_zero(schedule.deadline), schedule.claims, schedule.attempts,
                  schedule.faults, row.id.sequence, literal(to_string(step.from)))
            .run();
    if (changed != 1) return false;
    impl_->note(row, step.from, step.to, now);
    return true;
}

bool Store::receive(const Row& row, const std::optional<domain::Bytes32>& reference,
                    const Schedule& schedule, domain::Timestamp now) {
    const int changed =
        impl_->statements_.receive
            .with(now, lane_number(schedule.lane), schedule.wake,
                  milliseconds_or_zero(schedule.deadline), reference, row.id.sequence)
            .run();
    if (changed != 1) return false;
    impl_->note(row, Status::tx_in_flight, Status::receipt_received, now);
    return true;
}

namespace {

// Ended shares are kept until their round is over: until then a resend must be recognised.
domain::Timestamp retention_start(Statement& vote_end, const Row& row, domain::Timestamp now) {
    if (!row.round) return now;
    domain::Timestamp start = now;
    if (vote_end.with(*row.round).next()) {
        start = std::max(now, domain::from_unix_ms(vote_end.integer(0)));
    }
    vote_end.finish();
    return start;
}

}  // namespace

bool Store::complete(const Row& row, domain::ByteView result, domain::Timestamp now) {
    Statements& statements = impl_->statements_;
    const Lane lane = ended_lane(domain::family_of(row.kind));
    const domain::Timestamp start = retention_start(statements.vote_end, row, now);
    if (statements.complete.with(now, lane_number(lane), start, row.id.sequence).run() != 1) {
        return false;
    }
    statements.insert_result.with(row.id.sequence, result).run();
    if (row.kind == domain::Kind::share) {
        statements.wipe_payload.with(row.id.sequence).run();
        statements.purge_attempts.with(row.id.sequence).run();
        impl_->wiped_ = true;
    }
    if (row.round) statements.count_completed.with(*row.round).run();
    impl_->note(row, Status::receipt_received, Status::completed, now);
    return true;
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
        impl_->wiped_ = true;
    }
    if (row.round) {
        Statement& count =
            step.to == Status::timed_out ? statements.count_timed_out : statements.count_failed;
        count.with(*row.round).run();
    }
    impl_->note(row, step.from, step.to, now, &failure);
    return true;
}

void Store::add_attempt(std::int64_t sequence, const Attempt& attempt, domain::Timestamp now) {
    impl_->statements_.add_attempt.with(sequence, attempt.nonce, attempt.hash, attempt.sealed, now)
        .run();
}

std::vector<Attempt> Store::attempts(std::int64_t sequence) {
    Statement& statement = impl_->statements_.attempts.with(sequence);
    std::vector<Attempt> attempts;
    while (statement.next()) {
        Attempt attempt = attempt_without_bytes(statement);
        const domain::ByteView sealed = statement.blob(3);
        attempt.sealed.assign(sealed.begin(), sealed.end());
        attempts.push_back(std::move(attempt));
    }
    return attempts;
}

std::vector<Attempt> Store::attempts_in_work() {
    Statement& statement = impl_->statements_.attempts_in_work.with();
    std::vector<Attempt> attempts;
    while (statement.next()) attempts.push_back(attempt_without_bytes(statement));
    return attempts;
}

bool Store::hold_answer(const domain::Bytes32& reference, const HeldAnswer& answer,
                        domain::Timestamp now) {
    return impl_->statements_.hold_answer.with(reference, answer.slot, answer.body, now).run() == 1;
}

std::vector<HeldAnswer> Store::held_answers(const domain::Bytes32& reference) {
    Statement& statement = impl_->statements_.held_answers.with(reference);
    std::vector<HeldAnswer> answers;
    while (statement.next()) {
        const domain::ByteView body = statement.blob(1);
        answers.push_back({static_cast<std::uint32_t>(statement.integer(0)),
                           domain::Bytes(body.begin(), body.end())});
    }
    return answers;
}

void Store::drop_answers(const domain::Bytes32& reference) {
    impl_->statements_.drop_answers.with(reference).run();
}

std::size_t Store::trim_answers(domain::Timestamp before, std::size_t limit) {
    const int old = impl_->statements_.trim_old.with(before, limit).run();
    const int many =
        impl_->statements_.trim_many.with(impl_->options_.early_answers_max, limit).run();
    return static_cast<std::size_t>(old) + static_cast<std::size_t>(many);
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
    impl_->statements_.set_cursor.with(name, position).run();
}

std::int64_t Store::round(const domain::Bytes32& round_id, domain::Timestamp vote_end) {
    Statements& statements = impl_->statements_;
    std::optional<std::int64_t> known;
    if (statements.find_round.with(round_id).next()) known = statements.find_round.integer(0);
    statements.find_round.finish();
    if (known) return *known;
    statements.insert_round.with(round_id, vote_end).run();
    return impl_->database_->getLastInsertRowid();
}

std::vector<RoundRow> Store::rounds_over(domain::Timestamp now, std::size_t limit) {
    Statement& statement = impl_->statements_.rounds_over.with(now, limit);
    std::vector<RoundRow> rounds;
    while (statement.next()) {
        RoundRow round;
        round.id = statement.integer(0);
        round.round_id = bytes32(statement, 1);
        round.vote_end = domain::from_unix_ms(statement.integer(2));
        round.total = static_cast<std::uint64_t>(statement.integer(3));
        round.submitted = static_cast<std::uint64_t>(statement.integer(4));
        round.failed = static_cast<std::uint64_t>(statement.integer(5));
        round.timed_out = static_cast<std::uint64_t>(statement.integer(6));
        rounds.push_back(round);
    }
    return rounds;
}

void Store::add_to_round(std::int64_t id, std::uint64_t shares) {
    impl_->statements_.count_new.with(shares, id).run();
}

void Store::close_round(std::int64_t id) {
    impl_->statements_.close_round.with(id).run();
}

std::size_t Store::purge(Lane lane, domain::Timestamp before, std::size_t limit) {
    assert(lane_number(lane) >= lane_number(Lane::ended_input_proof));
    Statements& statements = impl_->statements_;
    std::vector<Row> rows;
    statements.purgeable.with(lane_number(lane), before, limit);
    while (statements.purgeable.next()) rows.push_back(read_row(statements.purgeable));
    for (const Row& row : rows) {
        const std::int64_t id = row.id.sequence;
        statements.purge_keys.with(id).run();
        statements.purge_attempts.with(id).run();
        statements.purge_result.with(id).run();
        statements.wipe_payload.with(id).run();
        statements.purge_request.with(id).run();
        impl_->note(row, row.status, {}, before);
    }
    if (!rows.empty()) impl_->wiped_ = true;
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

std::vector<Change> Store::take_changes() {
    return std::exchange(impl_->changes_, {});
}

std::uint64_t Store::wal_bytes() const {
    return static_cast<std::uint64_t>(impl_->wal_pages_) * impl_->page_bytes_;
}

void Store::checkpoint() {
    impl_->checkpoint(SQLITE_CHECKPOINT_PASSIVE);
}

void Store::truncate_wal() {
    // Without waiting: a reader in the way means the next maintenance tries again.
    sqlite3_busy_timeout(impl_->database_->getHandle(), 0);
    try {
        impl_->checkpoint(SQLITE_CHECKPOINT_TRUNCATE);
    } catch (...) {
        sqlite3_busy_timeout(impl_->database_->getHandle(), 2'000);
        throw;
    }
    sqlite3_busy_timeout(impl_->database_->getHandle(), 2'000);
}

bool Store::wal_holds_wiped_data() const {
    return impl_->wiped_;
}

void Store::require_in_place() const {
    for (const Place* place : {&impl_->database_place_, &impl_->lock_place_}) {
        if (place->is_unchanged()) continue;
        throw StorageError(Trouble::corrupt,
                           place->path().string() +
                               " was removed or replaced while in use; what was stored since is "
                               "lost, and what was there is only in a backup");
    }
}

void Store::probe() {
    Transaction transaction(*this);
    const std::uint64_t probes = cursor("probe").value_or(0) + 1;
    set_cursor("probe", probes);
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
