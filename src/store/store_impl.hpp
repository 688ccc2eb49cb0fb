#pragma once

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/journaled_commits.hpp"
#include "store/reserve.hpp"
#include "store/row_columns.hpp"
#include "store/statement.hpp"
#include "store/store.hpp"
#include "store/written_file.hpp"

// The inside of Store, for the files that make it up and nobody else.
namespace store {

inline const char* literal(std::string_view constant) {
    return constant.data();
}

inline std::int64_t milliseconds_or_zero(const std::optional<domain::Timestamp>& time) {
    return time ? domain::unix_ms(*time) : 0;
}

// First 8 bytes, big endian: enough to find the few rows worth comparing.
inline std::int64_t dedup_prefix(const domain::Bytes32& key) {
    std::uint64_t prefix = 0;
    for (std::size_t i = 0; i < 8; ++i) prefix = prefix << 8 | key[i];
    return static_cast<std::int64_t>(prefix);
}

inline std::int64_t lane_number(Lane lane) {
    return static_cast<std::int64_t>(lane);
}

// Answers that no request with a receipt waits for.
inline const std::string unclaimed =
    "not exists (select 1 from request where request.reference = answer.reference "
    "and request.status = 'receipt_received')";

// Rows whose patience may end, nothing being signed for them.
inline const std::string patient = "lane in (1, 2) and status in ('queued', 'processing')";

// The columns that make an Inclusion.
inline const std::string inclusion_columns =
    "id, hash, block, block_hash, reference, buried from inclusion";

// The columns of `round` that make a RoundRow.
inline const std::string alert_columns =
    "id, round_id, vote_end_ms, alert.total, alert.submitted, alert.failed, pending, unconfirmed "
    "from alert join round on id = round";
// Dropped after the alert of the round was written.
inline const std::string late_shares =
    "(round.failed + round.timed_out - alert.failed - alert.pending)";
inline const std::string round_columns =
    "id, round_id, vote_end_ms, total, submitted, failed, timed_out, 0";

// Of a row of `round`; served by the index of waiting shares.
inline const std::string has_waiting =
    "exists (select 1 from request where request.round = round.id and request.lane = 0)";

// Ended shares are kept until their round is over: until then a resend must be recognised.
[[nodiscard]] domain::Timestamp retention_start(Statement& vote_end, const Row& row,
                                                domain::Timestamp now);

struct Store::Statements {
    explicit Statements(SQLite::Database& db) : db_(db) {}

    SQLite::Database& db_;

    Statement begin{db_, "begin immediate"};
    Statement commit{db_, "commit"};
    Statement last_sequence{db_, "select max(id) from request"};
    Statement find_duplicate{
        db_,
        "select " + row_columns + ", identity_key, identity_content from request where dedup = ?"};
    Statement insert{db_, "insert into request (" + row_columns +
                              ", dedup, identity_key, identity_content) "
                              "values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};
    Statement insert_ended{db_,
                           "insert into request (id, random, kind, status, lane, wake_ms, "
                           "status_ms, attempts, round, dedup, identity_key, identity_content, "
                           "reason, detail) values (?, ?, 'share', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
                           "?)"};
    Statement insert_payload{db_, "insert into payload (id, body) values (?, ?)"};
    Statement find_by_key{db_, "select " + row_columns +
                                   ", identity_key, identity_content from request where id = "
                                   "(select request from idempotency where key = ?)"};
    // Taken from a request that can not be read any more.
    Statement remember_key{db_,
                           "insert into idempotency (key, request) values (?1, ?2) "
                           "on conflict (key) do update set request = ?2"};
    Statement settings{db_,
                       "select name, value from setting where name not like '~%' order by name"};
    Statement find_note{db_, "select value from setting where name = '~' || ?"};
    Statement keep_note{db_,
                        "insert into setting (name, value) values ('~' || ?1, ?2) "
                        "on conflict (name) do update set value = ?2"};
    Statement drop_note{db_, "delete from setting where name = '~' || ?"};
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
    Statement count_due{db_,
                        "select count(*) from (select 1 from request where lane = ? and "
                        "wake_ms <= ? limit ?)"};
    Statement tried_shares{db_, "select " + row_columns +
                                    " from request where lane = 0 and wake_ms <= ? and "
                                    "(attempts > 0 or faults > 0)"};
    // The unary plus keeps the planner on the lane index and off the primary key.
    Statement standing_in{db_,
                          "select " + row_columns + " from request where lane = ? order by +id"};
    Statement earliest_wake{db_, "select min(wake_ms) from request where lane = ?"};
    Statement reschedule{db_,
                         "update request set lane = ?, wake_ms = ?, deadline_ms = ?, claims = ?, "
                         "attempts = ?, faults = ?, unreached_ms = ?, refused_ms = ? "
                         "where id = ? and status = ?"};
    Statement move{db_,
                   "update request set status = ?, status_ms = ?, lane = ?, wake_ms = ?, "
                   "deadline_ms = ?, claims = ?, attempts = ?, faults = ?, "
                   "unreached_ms = ?, refused_ms = ? where id = ? and status = ?"};
    Statement receive{db_,
                      "update request set status = 'receipt_received', status_ms = ?, lane = ?, "
                      "wake_ms = ?, deadline_ms = ?, claims = 0, "
                      "attempts = iif(kind = 'share', attempts, 0), faults = 0, refused_ms = 0, "
                      "reference = ? where id = ? and status = 'tx_in_flight'"};
    Statement send_back{db_,
                        "update request set status = 'tx_in_flight', status_ms = ?, lane = ?, "
                        "wake_ms = ?, deadline_ms = 0, claims = 0, attempts = ?, faults = 0, "
                        "reference = null where id = ? and status = 'receipt_received'"};
    Statement complete{db_,
                       "update request set status = 'completed', status_ms = ?, lane = ?, "
                       "wake_ms = ?, deadline_ms = 0, claims = 0 "
                       "where id = ? and status = 'receipt_received'"};
    Statement fail{db_,
                   "update request set status = ?, status_ms = ?, lane = ?, wake_ms = ?, "
                   "deadline_ms = 0, claims = 0, reason = ?, detail = ?, selector = ?, "
                   "dedup = iif(? = 0, null, dedup) where id = ? and status = ?"};
    Statement end_broken{db_,
                         "update request set status = 'failure', status_ms = ?1, lane = ?2, "
                         "wake_ms = ?1, deadline_ms = 0, claims = 0, reason = ?3, detail = ?4, "
                         "selector = null, dedup = null where id = ?5"};
    Statement keep_result{db_,
                          "insert into result (id, body) values (?1, ?2) "
                          "on conflict (id) do update set body = ?2"};
    Statement count_completed{db_, "update round set submitted = submitted + 1 where id = ?"};
    Statement count_failed{db_, "update round set failed = failed + 1 where id = ?"};
    Statement count_timed_out{db_, "update round set timed_out = timed_out + 1 where id = ?"};
    Statement count_new{db_, "update round set total = total + ? where id = ?"};
    Statement vote_end{db_, "select vote_end_ms from round where id = ?"};
    Statement add_attempt{db_,
                          "insert into attempt (id, ordinal, nonce, hash, sealed, sealed_ms, "
                          "account) values (?1, (select count(*) from attempt where id = ?1), "
                          "?2, ?3, ?4, ?5, (select id from account where address = ?6))"};
    Statement attempts{db_, "select " + attempt_columns +
                                ", sealed from attempt where id = ? "
                                "order by ordinal"};
    Statement attempts_in_work{db_, "select " + attempt_columns +
                                        ", sealed from attempt where id in "
                                        "(select id from request where lane in (1, 2) and status "
                                        "in ('processing', 'tx_in_flight') "
                                        "and kind <> 'share' union select id from inclusion where "
                                        "block is null) order by nonce"};
    Statement include{db_,
                      "insert into inclusion (id, hash, block, block_hash, reference) "
                      "values (?1, ?2, ?3, ?4, ?5) on conflict (id) do update set hash = ?2, "
                      "block = ?3, block_hash = ?4, reference = ?5, buried = 0"};
    Statement charge{db_,
                     "update attempt set block = ?3, gas = ?4, gas_price = ?5 "
                     "where id = ?1 and hash = ?2"};
    Statement discharge{db_,
                        "update attempt set block = null, gas = null, gas_price = null "
                        "where id = ? and block is not null"};
    Statement inclusion{db_, "select " + inclusion_columns + " where id = ?"};
    Statement included_in{
        db_, "select " + inclusion_columns + " where block = ? and block_hash = ? order by id"};
    Statement inclusions{db_, "select " + inclusion_columns + " order by id"};
    // The cross join keeps the planner from reading all attempts.
    Statement nonces_included{
        db_,
        "select nonce, inclusion.block, block_hash, "
        "(select address from account where account.id = attempt.account), sealed "
        "from inclusion cross join attempt "
        "on attempt.id = inclusion.id and attempt.hash = inclusion.hash "
        "where inclusion.block is not null and buried = 0 order by nonce"};
    Statement find_included{db_,
                            "select id from inclusion where reference = ? order by id limit 1"};
    Statement exclude{db_,
                      "update inclusion set block = null, block_hash = null, reference = null, "
                      "buried = 0 where id = ?"};
    Statement settle_inclusion{db_, "delete from inclusion where id = ?"};
    Statement settle_block{db_,
                           "delete from inclusion where id in (select id from inclusion "
                           "where block = ? and block_hash = ? and "
                           "(select lane from request where request.id = inclusion.id) >= 8 "
                           "limit ?)"};
    Statement bury{db_,
                   "update inclusion set buried = 1 where id in (select id from inclusion "
                   "where block = ? and block_hash = ? and buried = 0 limit ?)"};
    Statement settle_buried{db_, "delete from inclusion where id = ? and buried = 1"};
    // The unary pluses keep the planner on the lane index.
    Statement last_to_put_off{db_, "select max(id) from (select id from request where " + patient +
                                       " and kind = ? and +id > ? order by +id limit ?)"};
    Statement put_off{db_,
                      "update request set "
                      "deadline_ms = iif(deadline_ms = 0, 0, deadline_ms + ?1), "
                      "unreached_ms = iif(unreached_ms = 0, 0, unreached_ms + ?1) where " +
                          patient + " and kind = ?2 and +id > ?3 and +id <= ?4"};
    Statement add_history{
        db_,
        "insert into history (id, ordinal, stage, at_ms, cause, note) values (?1, "
        "(select min(count(*), 62) from history where id = ?1 and ordinal >= 0), ?2, ?3, ?4, ?5) "
        "on conflict (id, ordinal) do update set stage = ?2, at_ms = ?3, cause = ?4, note = ?5, "
        "times = times + 1"};
    Statement note_trouble{
        db_,
        "insert into history (id, ordinal, stage, at_ms, cause, note) values (?1, -1, "
        "'trouble', ?2, ?3, ?4) on conflict (id, ordinal) do update set at_ms = ?2, cause = ?3, "
        "note = ?4, times = times + 1"};
    Statement hold_answer{db_,
                          "insert into answer (reference, slot, body, arrived_ms, block, "
                          "block_hash) values (?1, ?2, ?3, ?4, ?5, ?6) "
                          "on conflict (reference, slot) do update set body = ?3, "
                          "arrived_ms = ?4, block = ?5, block_hash = ?6 "
                          "where ?6 is not null and block_hash is not ?6"};
    Statement held_answers{db_,
                           "select slot, body, block, block_hash from answer where reference = ? "
                           "order by position"};
    Statement answers_from{
        db_, "select position, block, block_hash from answer where block between ? and ?"};
    Statement drop_answer{db_, "delete from answer where position = ?"};
    Statement result{db_, "select body from result where id = ?"};
    Statement drop_answers{db_, "delete from answer where reference = ?"};
    // Shares of a request that waits with its receipt are no orphans.
    Statement trim_old{db_,
                       "delete from answer where position in (select position from answer "
                       "where arrived_ms < ? and " +
                           unclaimed + " order by position limit ?) returning block"};
    Statement trim_many{db_,
                        "delete from answer where position in (select position from answer where " +
                            unclaimed +
                            " order by position limit max(0, min(?2, (select count(*) from answer) "
                            "- ?1))) returning block"};
    Statement cursor{db_, "select position from cursor where listener = ?"};
    Statement cursors{db_,
                      "select listener, position from cursor where listener not glob 'mark *'"};
    Statement marks{db_, "select listener, position from cursor where listener glob 'mark *'"};
    Statement holds{db_,
                    "select id, since_ms, released from hold join request using (id) "
                    "where lane < 8 order by id"};
    Statement hold{db_,
                   "insert into hold (id, since_ms) values (?1, ?2) "
                   "on conflict (id) do update set since_ms = ?2, released = 0"};
    Statement release_hold{db_, "update hold set released = 1 where id = ?"};
    Statement purge_hold{db_, "delete from hold where id = ?"};
    Statement set_cursor{db_,
                         "insert into cursor (listener, position) values (?1, ?2) "
                         "on conflict (listener) do update set position = ?2"};
    Statement probe{db_,
                    "insert into probe (id, times) values (1, 1) "
                    "on conflict (id) do update set times = times + 1"};
    Statement drop_cursor{db_, "delete from cursor where listener = ?"};
    Statement find_round{db_, "select id from round where round_id = ?"};
    Statement insert_round{db_, "insert into round (round_id, vote_end_ms) values (?, ?)"};
    Statement find_round_row{db_, "select " + round_columns + " from round where id = ?"};
    Statement is_closed{db_, "select 1 from round where id = ? and closed <> 0"};
    Statement rounds_over{db_, "select " + round_columns +
                                   " from round where closed = 0 and vote_end_ms <= ? and "
                                   "(submitted + failed + timed_out = total or " +
                                   has_waiting + ") order by vote_end_ms, id limit ?"};
    Statement next_round_end{
        db_, "select min(vote_end_ms) from round where closed = 0 and vote_end_ms > ?"};
    Statement waiting_in_round{
        db_, "select " + row_columns + " from request where lane = 0 and round = ? limit ?"};
    Statement closed_with_waiting{db_, "select id from round where closed <> 0 and " + has_waiting};
    Statement add_alert{db_,
                        "insert into alert (round, total, submitted, failed, pending, unconfirmed, "
                        "raised_ms, taken, logged) values (?, ?, ?, ?, ?, ?, ?, 0, 0)"};
    // Ended shares lie in the index by the end of their round. The last byte of their result says
    // whether the chain had them already; then it has them for certain.
    Statement admitted_only{
        db_,
        "select count(*) from request join result using (id) where lane = 11 and wake_ms >= ? and "
        "round = ? and status = 'completed' and substr(body, -1) = x'00'"};
    Statement open_alerts{db_,
                          "select " + alert_columns + " where taken = 0 order by raised_ms, id"};
    Statement unlogged_alerts{
        db_, "select " + alert_columns + " where logged = 0 order by raised_ms, id"};
    Statement find_alert{db_, "select " + late_shares +
                                  ", taken, logged from alert join round on id = round "
                                  "where round = ?"};
    Statement rounds_with_late{db_, "select id from alert join round on id = round where " +
                                        late_shares + " >= min(taken, logged) and " + late_shares +
                                        " > 0"};
    Statement take_alert{db_, "update alert set taken = max(taken, ?2) where round = ?1"};
    Statement mark_alert_logged{db_, "update alert set logged = max(logged, ?2) where round = ?1"};
    Statement close_round{db_, "update round set closed = 1 where id = ?"};
    Statement add_account{db_, "insert into account (address) values (?) on conflict do nothing"};
    Statement add_own{db_,
                      "insert into own_transaction (account, nonce, hash, purpose, sealed, "
                      "sealed_ms) values ((select id from account where address = ?), ?, ?, ?, ?, "
                      "?) on conflict do nothing"};
    Statement own_unsettled{
        db_,
        "select address, nonce, hash, purpose, sealed, sealed_ms from own_transaction join account "
        "on id = account where fate is null order by account, nonce, sealed_ms"};
    // A filler waits for longer than a request with its nonce: until the chain's count says so.
    // What ended well before it was signed had no such nonce.
    Statement attempts_beside_own{
        db_, "select " + attempt_columns +
                 " from attempt where id in (select id from request where lane in (1, 2, 8, 9, 10) "
                 "and wake_ms >= (select min(sealed_ms) from own_transaction where fate is null) - "
                 "600000) and exists (select 1 from own_transaction where fate is null and "
                 "own_transaction.account = attempt.account and "
                 "own_transaction.nonce = attempt.nonce) order by nonce"};
    Statement settle_own{db_,
                         "update own_transaction set fate = iif(hash = ?3, ?4, 'replaced'), "
                         "fate_ms = ?5 where account = (select id from account where address = ?1) "
                         "and nonce = ?2 and fate is null"};
    Statement purge_own{
        db_,
        "delete from own_transaction where (account, nonce, hash) in (select account, nonce, hash "
        "from own_transaction where fate_ms < ? limit ?)"};
    Statement forget_own{db_,
                         "delete from own_transaction where (account, nonce, hash) in "
                         "(select account, nonce, hash from own_transaction limit ?)"};
    Statement purgeable{
        db_, "select " + row_columns +
                 " from request where lane = ? and wake_ms < ? and not exists (select 1 from "
                 "inclusion where inclusion.id = request.id) order by wake_ms limit ?"};
    Statement purge_keys{db_, "delete from idempotency where request = ?"};
    Statement purge_history{db_, "delete from history where id = ?"};
    Statement purge_attempts{db_, "delete from attempt where id = ?"};
    Statement purge_result{db_, "delete from result where id = ?"};
    Statement purge_request{db_, "delete from request where id = ?"};
};

class Store::Impl {
public:
    explicit Impl(const Options& options);
    Impl(const Options& options, CommitSink& sink);
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    // Whatever changes the file does so between a Transaction's begin and its commit.
    [[nodiscard]] bool in_transaction() const { return file_.in_transaction(); }
    // After a checkpoint, which may have brought all to the disk.
    void note_synced(bool is_synced);
    // Nothing for a broken row, which is kept for take_broken().
    [[nodiscard]] std::optional<Row> read_row(const Statement& statement);
    [[nodiscard]] std::vector<Row> read_rows(Statement& statement);
    // Keeps a status change for take_changes().
    void note(const Row& row, std::optional<domain::Status> from, std::optional<domain::Status> to,
              domain::Timestamp now, const domain::Failure* failure = nullptr);
    // Same, of a change of status, which the history of the request gets too.
    void note_stage(const Row& row, const Step& step, domain::Timestamp now,
                    const domain::Failure* failure = nullptr);

    const Options options_;
    WrittenFile file_;
    SQLite::Database& database_ = file_.database();
    std::unique_ptr<JournaledCommits> journaled_;  // none: of a single machine
    std::optional<JournalPosition> synced_;
    Statements statements_{database_};
    Reserve reserve_;
    std::vector<Change> changes_;
    std::vector<BrokenRow> broken_;
};

}  // namespace store
