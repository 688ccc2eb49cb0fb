#include "store/restore.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <system_error>
#include <vector>

#include "domain/sealed_box.hpp"
#include "store/backup_file.hpp"
#include "store/database.hpp"
#include "store/errors.hpp"
#include "store/owner_lock.hpp"
#include "store/rows.hpp"
#include "store/statement.hpp"
#include "store/table_copy.hpp"

namespace store {

namespace {

// Of the row `asked` of `request`: a share whose secrets are here.
constexpr const char* live_share = "asked.kind = 'share' and asked.lane < 8";

// One whose round is over: its last second has passed (share-helper 3.3).
std::string share_over(domain::Timestamp now) {
    return std::string(live_share) +
           " and exists (select 1 from round where round.id = asked.round and vote_end_ms + 1000 "
           "<= " +
           std::to_string(domain::unix_ms(now)) + ")";
}

std::uint64_t count_of(SQLite::Database& database, const std::string& condition) {
    Statement statement(database, "select count(*) from request as asked where " + condition);
    const auto count =
        statement.with().next() ? static_cast<std::uint64_t>(statement.integer(0)) : 0;
    statement.finish();
    return count;
}

class Restoration {
public:
    Restoration(const RestoreOptions& options, const ports::Progress& progress)
        : options_(options),
          progress_(progress),
          from_(open_for_checking(options.file)),
          file_(database_path(options.into), Leftover::removed, FileOwner::of_directory),
          to_(file_.open()) {
        if (is_backup(*from_)) meta_ = read_meta(*from_);
        report_.made = meta_.made;
        report_.shares_left_out = meta_.shares_left_out;
        find_key();
    }

    void copy() {
        SQLite::Transaction one_moment(*from_);
        {
            SQLite::Transaction all_or_nothing(*to_);
            TableCopy tables(*from_, *to_, progress_);
            if (options_.without_shares) {
                report_.shares_left_out += count_of(*from_, live_share);
                tables.leave_out(live_share);
            } else {
                tables.leave_secrets_out(share_over(options_.now));
            }
            if (box_) {
                tables.change_secrets([this](domain::ByteView sealed, std::string_view label) {
                    return opened(sealed, label);
                });
            }
            tables.run({backup_table});
            make_ours(*to_, schema_of(*from_));
            all_or_nothing.commit();
        }
        migrate_to_newest(*to_);
        SQLite::Transaction mark(*to_);
        if (options_.without_shares) {
            to_->exec("update round set failed = total - submitted - timed_out");
        }
        // Whoever restores begins a book of its own, or none.
        to_->exec("delete from journal_position");
        end_shares_over();
        put_deadlines_off();
        hold();
        mark.commit();
    }

    RestoreReport finish(const FaultSink& found) {
        to_.reset();
        static_cast<void>(file_.flush());
        const Verified verified = verify(file_.unfinished(), progress_, found);
        if (verified.damaged) {
            throw StorageError(StorageErrorKind::corrupt,
                               "what was read back of the database is damaged; see the disk of " +
                                   options_.into.directory.string());
        }
        report_.requests = verified.requests;
        report_.faults = verified.faults;
        file_.keep();
        return report_;
    }

private:
    void find_key() {
        if (!meta_.salt || options_.without_shares) return;
        const std::uint64_t shares = count_of(*from_, live_share);
        if (shares == 0) return;
        if (!options_.key) {
            throw OpenError(options_.file.string() + " holds " + std::to_string(shares) +
                            " vote shares; name their key with --key-file, or leave them behind "
                            "with --without-shares");
        }
        box_.emplace(*options_.key, *meta_.salt);
    }

    [[nodiscard]] domain::Bytes opened(domain::ByteView sealed, std::string_view label) const {
        if (auto plain = box_->open(sealed, label)) return *std::move(plain);
        throw OpenError("a vote share of " + options_.file.string() +
                        " does not open: it was sealed with another key, or the file was changed");
    }

    // As the engine would at its first step, but before anything of them is on this disk.
    void end_shares_over() {
        const std::string over = share_over(options_.now);
        report_.shares_over = count_of(*to_, over);
        const std::string now = std::to_string(domain::unix_ms(options_.now));
        to_->exec(
            "update round set timed_out = timed_out + (select count(*) from request as asked "
            "where asked.round = round.id and " +
            over + ")");
        to_->exec("update request as asked set status = 'timed_out', status_ms = " + now +
                  ", lane = 11, wake_ms = max(" + now +
                  ", deadline_ms), deadline_ms = 0, claims = 0, reason = 'round_over', detail = "
                  "'The round was over before the share was revealed' where " +
                  over);
        report_.shares = count_of(*to_, live_share);
    }

    // Nothing went on since the backup was made: no deadline of a relayer request came nearer.
    void put_deadlines_off() {
        Statement newest(*to_, "select coalesce(max(status_ms), 0) from request");
        domain::Timestamp since = meta_.made;
        if (since == domain::Timestamp{} && newest.with().next()) {
            since = domain::from_unix_ms(newest.integer(0));
        }
        newest.finish();
        const auto by = std::max(options_.now - since, domain::Milliseconds{0});
        Statement later(
            *to_,
            "update request set deadline_ms = iif(deadline_ms = 0, 0, deadline_ms + ?1), "
            "unreached_ms = iif(unreached_ms = 0, 0, unreached_ms + ?1), "
            "refused_ms = iif(refused_ms = 0, 0, refused_ms + ?1), "
            "wake_ms = wake_ms + ?1 where lane in (1, 2) and kind <> 'share'");
        later.with(std::chrono::duration_cast<domain::Milliseconds>(by).count()).run();
    }

    // Signed ones are looked up; what waits for its answer only listens.
    void hold() {
        const std::string now = std::to_string(domain::unix_ms(options_.now));
        to_->exec("delete from hold");
        to_->exec("insert into hold (id, since_ms) select id, " + now + " from request where " +
                  unsealed_in_work);
        report_.held = count_of(*to_, "exists (select 1 from hold where hold.id = asked.id)");
        to_->exec("update request set lane = 2, wake_ms = " + now +
                  " where exists (select 1 from hold where hold.id = request.id)");
        report_.sealed = count_of(*to_,
                                  "asked.kind <> 'share' and asked.lane < 8 and "
                                  "asked.status in ('processing', 'tx_in_flight')") -
                         count_of(*to_,
                                  "asked.status = 'processing' and exists (select 1 from hold "
                                  "where hold.id = asked.id)");
        to_->exec("delete from cursor where listener glob 'mark *'");
        Statement last(*to_,
                       "insert into cursor (listener, position) select ?, "
                       "coalesce(max(id), 0) from request");
        last.with(cursor_of_mark(restored_mark)).run();
    }

    const RestoreOptions& options_;
    const ports::Progress& progress_;
    std::unique_ptr<SQLite::Database> from_;
    BackupFile file_;
    std::unique_ptr<SQLite::Database> to_;
    BackupMeta meta_;
    std::optional<domain::SealedBox> box_;
    RestoreReport report_;
};

// A log that is left over would be taken for one of the new database.
void refuse_used(const Options& into) {
    const std::string database = database_path(into).string();
    for (const char* suffix : {"", "-wal", "-journal"}) {
        std::error_code unknown;
        if (!std::filesystem::exists(database + suffix, unknown)) continue;
        throw OpenError(database + suffix +
                        " is there already; name another --data-dir, or move it away");
    }
}

void refuse_damaged(const std::filesystem::path& file, const ports::Progress& progress,
                    const FaultSink& found) {
    // Faults of rows are told of what was restored.
    std::vector<Fault> faults;
    const auto keep = [&faults](const Fault& fault) { faults.push_back(fault); };
    if (!verify(file, progress, keep).damaged) return;
    for (const Fault& fault : faults) found(fault);
    throw StorageError(StorageErrorKind::corrupt,
                       file.string() + " is damaged: take another backup");
}

}  // namespace

RestoreReport restore(const RestoreOptions& options, const ports::Progress& progress,
                      const FaultSink& found) {
    try {
        make_directory(options.into);
        const OwnerLock lock(std::filesystem::canonical(options.into.directory));
        refuse_used(options.into);
        refuse_damaged(options.file, progress, found);
        Restoration restoration(options, progress);
        restoration.copy();
        return restoration.finish(found);
    } catch (const SQLite::Exception& error) {
        throw to_storage_error(error, "restoring " + options.file.string());
    }
}

}  // namespace store
