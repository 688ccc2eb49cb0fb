#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "domain/failure.hpp"
#include "store/commit_sink.hpp"
#include "store/errors.hpp"
#include "store/journal_position.hpp"
#include "store/options.hpp"
#include "store/rows.hpp"

namespace store {

// The one connection that writes and checkpoints. One thread: the processor's. Every change happens
// inside a Transaction; failures throw StorageError and leave the open transaction to be rolled
// back.
class Store {
public:
    // Takes the owner lock, opens or creates the file (0600), migrates it and checks it.
    // Throws OpenError or StorageError.
    explicit Store(const Options& options);
    // A file that belongs to a book: every transaction that changes something is decided by the
    // sink. Neither makes nor migrates it, and does not wait for its disk: what a power cut takes,
    // the journal has. Its transactions throw OwnershipLost as well, and once they did so, nothing
    // else.
    Store(const Options& options, CommitSink& sink);
    ~Store();
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;

    class Transaction {
    public:
        explicit Transaction(Store& store);
        ~Transaction();  // rolls back what was not committed
        Transaction(const Transaction&) = delete;
        Transaction& operator=(const Transaction&) = delete;

        // Durable when it returns.
        void commit();

    private:
        Store& store_;
        bool open_ = true;
    };

    // --- requests ---

    [[nodiscard]] std::int64_t last_sequence();
    [[nodiscard]] std::optional<Duplicate> find_duplicate(const domain::Identity& identity);
    void insert(const NewRequest& request);
    // A share that is over before it comes in, counted in its round. Kept until its round is over,
    // so that a resend is recognised (share-helper 2.3).
    void insert_ended(const EndedShare& share);
    // The request an Idempotency-Key stands for, and whether it is the one that is asked now.
    [[nodiscard]] std::optional<Duplicate> find_by_key(const domain::Bytes32& key,
                                                       const domain::Identity& identity);
    void remember_key(const domain::Bytes32& key, std::int64_t sequence);
    [[nodiscard]] std::optional<Row> load(std::int64_t sequence);
    [[nodiscard]] std::optional<Row> find_by_reference(const domain::Bytes32& reference);
    // The id the chain gave the request.
    [[nodiscard]] std::optional<domain::Bytes32> reference(std::int64_t sequence);
    [[nodiscard]] std::optional<domain::Bytes> payload(std::int64_t sequence);

    // Rows of a lane whose wake has come, earliest first, at most `limit`.
    [[nodiscard]] std::vector<Row> due(Lane lane, domain::Timestamp now, std::size_t limit);
    // How many these are, up to `limit`.
    [[nodiscard]] std::size_t count_due(Lane lane, domain::Timestamp now, std::size_t limit);
    // Rows of the lane `schedule` that were tried before, with a wake up to `latest`.
    [[nodiscard]] std::vector<Row> tried_shares(domain::Timestamp latest);
    // Every row of a lane in order of acceptance; meant for `gate` and `timer`: the rows in work.
    [[nodiscard]] std::vector<Row> standing_in(Lane lane);
    [[nodiscard]] std::optional<domain::Timestamp> earliest_wake(Lane lane);

    // --- guarded changes: false when the row is not in the status named, then nothing changed ---

    [[nodiscard]] bool reschedule(const Row& row, domain::Status in, const Schedule& schedule);

    struct Step {
        domain::Status from;
        domain::Status to;
        domain::Cause cause;
    };
    // To a status that is not terminal. The step must be legal for the row's kind (asserted).
    [[nodiscard]] bool move(const Row& row, Step step, const Schedule& schedule,
                            domain::Timestamp now);
    [[nodiscard]] bool receive(const Row& row, const std::optional<domain::Bytes32>& reference,
                               const Schedule& schedule, domain::Timestamp now);
    // The block with its transaction was replaced: receipt_received → tx_in_flight, without the
    // chain's id of it.
    [[nodiscard]] bool send_back(const Row& row, const Schedule& schedule, domain::Timestamp now);
    // Without a result: with the one that was kept.
    [[nodiscard]] bool complete(const Row& row, std::optional<domain::ByteView> result,
                                domain::Timestamp now);
    // What the request will serve once it is completed; in the place of what was kept before.
    void keep_result(std::int64_t sequence, domain::ByteView result);
    [[nodiscard]] bool fail(const Row& row, Step step, const domain::Failure& failure,
                            domain::Timestamp now);

    // The rows that this transaction's reads left out. They are to be ended in it: until then they
    // are found again and again. Outside of a transaction there are none.
    [[nodiscard]] std::vector<BrokenRow> take_broken();
    // The row fails, whatever it says of itself.
    void end_broken(const BrokenRow& row, const std::string& text, domain::Timestamp now);

    // The status changes of the last transaction, in order; empty after a rollback.
    [[nodiscard]] std::vector<Change> take_changes();

    // --- transactions of a request ---

    void add_attempt(std::int64_t sequence, const Attempt& attempt, domain::Timestamp now);
    [[nodiscard]] std::vector<Attempt> attempts(std::int64_t sequence);
    // Of all relayer requests in work whose outcome is not known, and of those whose transaction is
    // on its way again; without the bytes unless only these say whose they are.
    [[nodiscard]] std::vector<Attempt> attempts_in_work();
    // Whose nonces are not settled: on their way, or in blocks that may be replaced. Empty: of an
    // account that is not known.
    [[nodiscard]] std::set<std::string> unsettled_accounts();

    // --- transactions of our own ---

    // One that is there already stays as it is.
    void add_own(const OwnTransaction& own, domain::Timestamp now);
    // Those whose nonce is not known to be used, by account and nonce, the oldest of a nonce first.
    [[nodiscard]] std::vector<OwnTransaction> own_unsettled();
    // Transactions of requests with the same nonces, also of requests that have ended since;
    // without the bytes.
    [[nodiscard]] std::vector<Attempt> attempts_beside_own();
    // The nonce is used by the one with this hash, or by none of these. All others of it are
    // replaced.
    void settle_own(const std::string& account, std::uint64_t nonce,
                    const std::optional<domain::Bytes32>& hash, OwnFate fate,
                    domain::Timestamp now);
    // Deletes what was settled before `before`, at most `limit` rows; returns how many.
    std::size_t purge_own(domain::Timestamp before, std::size_t limit);
    // At most `limit` rows; returns how many.
    std::size_t forget_own(std::size_t limit);

    // --- where transactions were included, while that may change ---

    // In the place of what was known of this request before. What was charged stays known.
    void include(const Inclusion& inclusion, const Charge& charge = {});
    [[nodiscard]] std::optional<Inclusion> inclusion(std::int64_t sequence);
    [[nodiscard]] std::vector<Inclusion> included_in(const domain::Block& block);
    // In order of acceptance.
    [[nodiscard]] std::vector<Inclusion> inclusions();
    // Of the transactions that are in such blocks.
    [[nodiscard]] std::vector<UsedNonce> nonces_included();
    // The request that has this id where it is included now; the oldest if there are several.
    [[nodiscard]] std::optional<std::int64_t> find_included(const domain::Bytes32& reference);
    // Its block was replaced.
    void exclude(std::int64_t sequence);
    // Nothing will change it any more.
    void settle_inclusion(std::int64_t sequence);
    // Same, of requests in this block; who waits for an answer keeps it until the end. At most
    // `limit` of each; returns whether that was all.
    [[nodiscard]] bool bury(const domain::Block& block, std::size_t limit);
    // What ends the patience with requests of this kind that nothing was signed for comes so much
    // later: with those behind `after`, at most `limit`. Returns the last of them; nothing: there
    // are none.
    [[nodiscard]] std::optional<std::int64_t> put_off(domain::Kind kind, domain::Milliseconds by,
                                                      std::int64_t after, std::size_t limit);

    // What the request met last on its way; takes the place of what it met before. Its stage is
    // `trouble`. Not of shares.
    void note_trouble(std::int64_t sequence, const HistoryEntry& entry);
    // Behind what the request has already. At most 63 are kept: then the last one gives way.
    void add_history(std::int64_t sequence, const HistoryEntry& entry);

    // --- answers and cursor ---

    // False when the slot is taken: the first answer wins, unless the new one is of another block.
    bool hold_answer(const domain::Bytes32& reference, const HeldAnswer& answer,
                     domain::Timestamp now);
    [[nodiscard]] std::vector<HeldAnswer> held_answers(const domain::Bytes32& reference);
    void drop_answers(const domain::Bytes32& reference);
    // Those of blocks that were replaced, at most `limit`; returns whether these were all. Reads
    // all that are held from the lowest one on.
    [[nodiscard]] bool drop_answers(const std::vector<domain::Block>& blocks, std::size_t limit);
    // What the request is served with.
    [[nodiscard]] std::optional<domain::Bytes> result(std::int64_t sequence);
    struct Trimmed {
        std::size_t answers = 0;
        std::optional<std::uint64_t> newest_block;  // that one of them was in
    };
    // Forgets answers nobody claimed: those older than `before`, and the oldest beyond the bound.
    [[nodiscard]] Trimmed trim_answers(domain::Timestamp before, std::size_t limit);

    // Nothing when the listener never moved one.
    [[nodiscard]] std::optional<std::uint64_t> cursor(std::string_view listener);
    // Of every listener that ever moved one.
    [[nodiscard]] std::map<std::string, std::uint64_t> cursors();
    void set_cursor(std::string_view listener, std::uint64_t position);

    // --- what waits for the operator ---

    // Of those that have not ended, released ones too.
    [[nodiscard]] std::vector<Hold> holds();
    void hold(std::int64_t sequence, domain::Timestamp since);
    void release_hold(std::int64_t sequence);

    // --- marks: numbers that outlive everything ---

    [[nodiscard]] std::optional<std::uint64_t> mark(std::string_view name);
    [[nodiscard]] std::map<std::string, std::uint64_t> marks();
    void set_mark(std::string_view name, std::uint64_t value);
    void drop_mark(std::string_view name);

    // --- rounds ---

    // The first end time wins.
    [[nodiscard]] std::int64_t round(const domain::Bytes32& round_id, domain::Timestamp vote_end);
    // Counts shares that were inserted; separate, so that a step counts a round once.
    void add_to_round(std::int64_t id, std::uint64_t shares);
    // Nothing for an id nobody has.
    [[nodiscard]] std::optional<RoundRow> find_round(std::int64_t id);
    [[nodiscard]] bool is_closed(std::int64_t id);
    // Rounds that are not closed, end at `end` or before and have something to do: nothing of them
    // is in work any more, or some of their shares still wait. Those that ended first come first.
    [[nodiscard]] std::vector<RoundRow> rounds_over(domain::Timestamp end, std::size_t limit);
    // When the first of the rounds that are not closed ends after `end`.
    [[nodiscard]] std::optional<domain::Timestamp> next_round_end(domain::Timestamp end);
    // Shares of the round in lane `schedule`, at most `limit`.
    [[nodiscard]] std::vector<Row> waiting_in_round(std::int64_t id, std::size_t limit);
    // Closed rounds with shares in lane `schedule`: they came too late.
    [[nodiscard]] std::vector<std::int64_t> closed_with_waiting();
    void close_round(std::int64_t id);

    // How many completed shares of the round the chain was not seen to have: it only admitted them.
    // Reads all of them.
    [[nodiscard]] std::uint64_t admitted_only(const RoundRow& round);
    // The round as it stands when it closes, neither taken nor logged.
    void add_alert(const RoundRow& round, domain::Timestamp now);
    // As they were added, those nobody took yet; `timed_out` counts what was pending.
    [[nodiscard]] std::vector<RoundRow> open_alerts();
    // Same, those whose line may not be in the log.
    [[nodiscard]] std::vector<RoundRow> unlogged_alerts();
    // Nothing: the round closed without one.
    [[nodiscard]] std::optional<AlertRow> find_alert(std::int64_t round);
    // Closed rounds of whose late shares somebody may not know, or their shares not yet dropped.
    [[nodiscard]] std::vector<std::int64_t> rounds_with_late();
    // With so many of the shares that came late; never fewer than before.
    void take_alert(std::int64_t round, std::uint64_t late = 0);
    void mark_alert_logged(std::int64_t round, std::uint64_t late = 0);

    // --- settings ---

    [[nodiscard]] std::vector<Setting> settings();
    void set(const Setting& setting);
    void unset(const std::string& name);

    // --- notes of the program itself; nobody else changes them ---

    [[nodiscard]] std::optional<std::string> note(const std::string& name);
    void keep_note(const std::string& name, const std::string& value);
    void drop_note(const std::string& name);

    // --- all that is stored for one chain; each reads as much as there is ---

    [[nodiscard]] bool has_ended(Chain chain);
    [[nodiscard]] std::uint64_t count_unfinished(Chain chain);
    using SealedVisitor = std::function<void(std::int64_t request, domain::ByteView sealed)>;
    // Every transaction of requests that have ended, or that have not; the newest request first.
    void for_each_sealed(Chain chain, bool ended, const SealedVisitor& visit);
    // As if they had never been.
    void forget(const std::vector<std::int64_t>& requests);
    // Same for those that have ended; returns how many.
    std::size_t forget_ended(Chain chain, std::size_t limit);
    // How far listeners have read, and at most `limit` of the answers nobody claimed; returns how
    // many.
    std::size_t forget_listening(std::size_t limit);

    // --- upkeep ---

    // Deletes ended rows of a lane whose retention began before `before`, at most `limit` rows;
    // returns how many.
    std::size_t purge(Lane lane, domain::Timestamp before, std::size_t limit);

    [[nodiscard]] std::uint64_t wal_bytes() const;
    // Copies the WAL into the file as far as readers allow; never waits for them.
    void checkpoint();
    // Same, and cuts the WAL file to nothing if no reader is in the way. Outside a transaction.
    void truncate_wal();
    // Secrets were deleted since the last truncation and still lie in the WAL.
    [[nodiscard]] bool wal_holds_wiped_data() const;

    // Throws StorageError (corrupt) when the database or the lock was removed or replaced: what is
    // written from then on is lost with this process.
    void require_in_place() const;

    // A commit that changes nothing but proves that the disk takes writes again.
    void probe();
    // Gives the reserved space to the file system so that status changes go on; false: was given
    // before.
    bool release_reserve();
    // Takes the space back; false while the disk is still full.
    bool restore_reserve();

    [[nodiscard]] const Options& options() const;

    // --- in a book of several machines; of a single one there is nothing to tell ---

    // How many bytes the transaction has changed so far, at least as many as its entry will have.
    // See patchset_bytes_max.
    [[nodiscard]] std::uint64_t changed_bytes() const;
    // Whether the transaction can do more and still fit into an entry.
    [[nodiscard]] bool has_room() const;
    // Of a payload, a transaction or a result, so that one of them always fits.
    [[nodiscard]] std::size_t value_bytes_max() const;
    // Of the last commit.
    [[nodiscard]] std::optional<JournalPosition> position() const;
    // How far the file is on the disk, as of the last checkpoint; nothing: not known.
    [[nodiscard]] std::optional<JournalPosition> synced_position() const;

    // `SQLite 3.40.1 (affected by the WAL-reset bug; …)`, for the start-up log.
    [[nodiscard]] static std::string version();

private:
    struct Statements;
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace store
