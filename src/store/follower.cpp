#include "store/follower.hpp"

#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>
#include <vector>

#include "store/database.hpp"
#include "store/journaled_tables.hpp"
#include "store/patchset.hpp"
#include "store/position_row.hpp"
#include "store/row_changes.hpp"
#include "store/slices.hpp"
#include "store/statement.hpp"
#include "store/written_file.hpp"

namespace store {

namespace {

Options without_waiting(Options options) {
    options.synchronous = Synchronous::normal;
    return options;
}

std::string name_of(const JournalPosition& position) {
    return "entry " + std::to_string(position.seq) + " of book " + position.book + ", shard " +
           std::to_string(position.shard);
}

void to_storage_errors(const std::string& what, const std::function<void()>& work) {
    try {
        work();
    } catch (const SQLite::Exception& error) {
        throw to_storage_error(error, what);
    }
}

// Rolls back what was not committed.
class FileTransaction {
public:
    FileTransaction(WrittenFile& file, Statement& begin) : file_(file) { begin.run(); }
    ~FileTransaction() { file_.roll_back(); }
    FileTransaction(const FileTransaction&) = delete;
    FileTransaction& operator=(const FileTransaction&) = delete;

private:
    WrittenFile& file_;
};

}  // namespace

class Follower::Impl {
public:
    explicit Impl(const Options& options)
        : options_(options),
          file_(without_waiting(options), Membership::book_of_any_schema),
          schema_(schema_of(file_.database())),
          rows_(std::make_unique<Rows>(file_.database())),
          row_(file_.database()),
          begin_(file_.database(), "begin immediate"),
          commit_(file_.database(), "commit"),
          begin_entry_(file_.database(), "savepoint entry"),
          undo_entry_(file_.database(), "rollback to entry"),
          end_entry_(file_.database(), "release entry") {
        // Rows come in the order of the tables, not of their references.
        file_.database().exec("pragma foreign_keys = off");
        StoredPosition stored = row_.read().value();
        position_ = std::move(stored.position);
        diverged_ = std::move(stored.diverged);
    }

    void apply(std::span<const Entry> entries) {
        if (diverged_) throw Diverged(*diverged_);
        Applied applied{.position = position_};
        {
            const FileTransaction transaction(file_, begin_);
            for (const Entry& entry : entries) {
                if (!apply_to(applied, entry)) break;
            }
            if (applied.position.seq != position_.seq) row_.write(applied.position);
            commit_.run();
        }
        position_ = applied.position;
        if (applied.deletes) file_.note_wiped();
        if (applied.refused) throw EntryRefused(*applied.refused);
        if (applied.conflict) diverge(*applied.conflict);
    }

    void migrate(const Entry& entry, int schema) {
        if (diverged_) throw Diverged(*diverged_);
        if (const auto why = why_not_next(entry, position_)) throw EntryRefused(*why);
        if (schema <= schema_ || schema > newest_schema(options_)) {
            throw EntryRefused(name_of(entry.position) + " migrates to schema " +
                               std::to_string(schema) + "; this file has " +
                               std::to_string(schema_) + ", and this program knows up to " +
                               std::to_string(newest_schema(options_)));
        }
        {
            const FileTransaction transaction(file_, begin_);
            migrate_member(file_.database(), options_, schema);
            row_.write(entry.position);
            commit_.run();
        }
        position_ = entry.position;
        schema_ = schema;
        rows_ = std::make_unique<Rows>(file_.database());
    }

    void note_synced(bool is_synced) {
        if (is_synced) synced_ = position_;
    }

    // On a full disk, what an owner has kept free is given up for what is decided already.
    void change(const std::string& what, const std::function<void()>& work) const {
        try {
            to_storage_errors(what, work);
        } catch (const StorageError& error) {
            std::error_code gone;
            if (error.kind() == StorageErrorKind::full) {
                std::filesystem::remove(options_.directory / "posthouse.reserve", gone);
            }
            throw;
        }
    }

    // What the journal is about, as the schema of the file has it.
    struct Rows {
        explicit Rows(SQLite::Database& database)
            : tables(journaled_tables(database)),
              applier(database, tables),
              slices(database, tables) {}

        const std::vector<JournaledTable> tables;
        PatchsetApplier applier;
        Slices slices;
    };

    const Options options_;
    WrittenFile file_;
    int schema_;
    std::unique_ptr<Rows> rows_;
    PositionRow row_;
    Statement begin_;
    Statement commit_;
    Statement begin_entry_;
    Statement undo_entry_;
    Statement end_entry_;
    JournalPosition position_;
    std::optional<JournalPosition> synced_;
    std::optional<std::string> diverged_;

private:
    // What a transaction did so far, and why it went no further.
    struct Applied {
        JournalPosition position;
        bool deletes = false;
        std::optional<std::string> refused{};
        std::optional<std::string> conflict{};
    };

    static std::optional<std::string> why_not_next(const Entry& entry,
                                                   const JournalPosition& position) {
        const JournalPosition& next = entry.position;
        if (next.book != position.book || next.shard != position.shard) {
            return name_of(next) + " is not for a file of book " + position.book + ", shard " +
                   std::to_string(position.shard);
        }
        if (next.seq != position.seq + 1 || next.epoch < position.epoch) {
            return name_of(next) + " of epoch " + std::to_string(next.epoch) + " does not follow " +
                   std::to_string(position.seq) + " of epoch " + std::to_string(position.epoch);
        }
        if (entry.previous != position.hash) {
            return name_of(next) + " follows another entry than the one this file has";
        }
        return std::nullopt;
    }

    // False: it does not fit, and of it nothing stays.
    bool apply_to(Applied& applied, const Entry& entry) {
        applied.refused = why_not_next(entry, applied.position);
        if (applied.refused) return false;
        const auto changes = decode_changes(entry.changes);
        if (!changes) {
            applied.refused = name_of(entry.position) + " is damaged";
            return false;
        }
        const PatchsetContents contents = inspect(changes->patchset, rows_->tables);
        if (contents.problem) {
            applied.refused =
                name_of(entry.position) + " is not for this file: " + *contents.problem;
            return false;
        }
        begin_entry_.run();
        if (const auto why = why_not_the_owners(*changes)) {
            undo_entry_.run();
            applied.conflict = name_of(entry.position) + ": " + *why;
        }
        end_entry_.run();
        if (applied.conflict) return false;
        applied.position = entry.position;
        applied.deletes = applied.deletes || contents.deletes;
        return true;
    }

    // Nothing: the rows are changed, and those that the entry compares are as the owner's.
    std::optional<std::string> why_not_the_owners(const RowChanges& changes) {
        if (auto conflict = rows_->applier.apply(changes.patchset)) return conflict;
        const auto slice = rows_->slices.read(changes.slice.after);
        if (!slice) return "it names a slice of rows that can not be here";
        if (slice->digest != changes.slice.digest) {
            return "a slice of rows, or the order of the columns, is not that of the owner";
        }
        return std::nullopt;
    }

    [[noreturn]] void diverge(const std::string& why) {
        diverged_ = why;
        try {
            row_.mark_diverged(why);
        } catch (const StorageError&) {
            // The next process finds out in the same way.
        }
        throw Diverged(why);
    }
};

Follower::Follower(const Options& options) {
    to_storage_errors("opening " + database_path(options).string(),
                      [&] { impl_ = std::make_unique<Impl>(options); });
}

Follower::~Follower() = default;

void Follower::apply(std::span<const Entry> entries) {
    if (entries.empty()) return;
    impl_->change("applying " + name_of(entries.front().position) + " and those behind it",
                  [&] { impl_->apply(entries); });
}

void Follower::migrate(const Entry& entry, int schema) {
    impl_->change("applying " + name_of(entry.position), [&] { impl_->migrate(entry, schema); });
}

int Follower::schema() const {
    return impl_->schema_;
}

const JournalPosition& Follower::position() const {
    return impl_->position_;
}

const std::optional<std::string>& Follower::diverged() const {
    return impl_->diverged_;
}

const std::optional<JournalPosition>& Follower::synced_position() const {
    return impl_->synced_;
}

std::uint64_t Follower::wal_bytes() const {
    return impl_->file_.wal_bytes();
}

void Follower::checkpoint() {
    impl_->note_synced(impl_->file_.checkpoint());
}

void Follower::truncate_wal() {
    impl_->note_synced(impl_->file_.truncate_wal());
}

bool Follower::wal_holds_wiped_data() const {
    return impl_->file_.wal_holds_wiped_data();
}

void Follower::require_in_place() const {
    impl_->file_.require_in_place();
}

}  // namespace store
