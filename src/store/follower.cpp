#include "store/follower.hpp"

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

// Rolls back what was not committed.
class EntryTransaction {
public:
    EntryTransaction(WrittenFile& file, Statement& begin) : file_(file) { begin.run(); }
    ~EntryTransaction() { file_.roll_back(); }
    EntryTransaction(const EntryTransaction&) = delete;
    EntryTransaction& operator=(const EntryTransaction&) = delete;

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
          commit_(file_.database(), "commit") {
        // Rows come in the order of the tables, not of their references.
        file_.database().exec("pragma foreign_keys = off");
        StoredPosition stored = row_.read().value();
        position_ = std::move(stored.position);
        diverged_ = std::move(stored.diverged);
    }

    void apply(const Entry& entry) {
        if (diverged_) throw Diverged(*diverged_);
        require_next(entry);
        const auto changes = decode_changes(entry.changes);
        if (!changes) throw EntryRefused(name_of(entry.position) + " is damaged");
        const PatchsetContents contents = inspect(changes->patchset, rows_->tables);
        if (contents.problem) {
            throw EntryRefused(name_of(entry.position) +
                               " is not for this file: " + *contents.problem);
        }
        if (const auto why = apply_all_or_nothing(entry.position, *changes)) {
            diverge(name_of(entry.position) + ": " + *why);
        }
        position_ = entry.position;
        if (contents.deletes) file_.note_wiped();
    }

    void migrate(const Entry& entry, int schema) {
        if (diverged_) throw Diverged(*diverged_);
        require_next(entry);
        if (schema <= schema_ || schema > newest_schema(options_)) {
            throw EntryRefused(name_of(entry.position) + " migrates to schema " +
                               std::to_string(schema) + "; this file has " +
                               std::to_string(schema_) + ", and this program knows up to " +
                               std::to_string(newest_schema(options_)));
        }
        {
            const EntryTransaction transaction(file_, begin_);
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
    JournalPosition position_;
    std::optional<JournalPosition> synced_;
    std::optional<std::string> diverged_;

private:
    void require_next(const Entry& entry) const {
        const JournalPosition& next = entry.position;
        if (next.book != position_.book || next.shard != position_.shard) {
            throw EntryRefused(name_of(next) + " is not for a file of book " + position_.book +
                               ", shard " + std::to_string(position_.shard));
        }
        if (next.seq != position_.seq + 1 || next.epoch < position_.epoch) {
            throw EntryRefused(name_of(next) + " of epoch " + std::to_string(next.epoch) +
                               " does not follow " + std::to_string(position_.seq) + " of epoch " +
                               std::to_string(position_.epoch));
        }
        if (entry.previous != position_.hash) {
            throw EntryRefused(name_of(next) + " follows another entry than the one this file has");
        }
    }

    // Nothing: it is committed. Otherwise why it does not fit, and the file is as it was.
    std::optional<std::string> apply_all_or_nothing(const JournalPosition& position,
                                                    const RowChanges& changes) {
        const EntryTransaction transaction(file_, begin_);
        if (auto conflict = rows_->applier.apply(changes.patchset)) return conflict;
        const auto slice = rows_->slices.read(changes.slice.after);
        if (!slice) return "it names a slice of rows that can not be here";
        if (slice->digest != changes.slice.digest) {
            return "a slice of rows, or the order of the columns, is not that of the owner";
        }
        row_.write(position);
        commit_.run();
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
    try {
        impl_ = std::make_unique<Impl>(options);
    } catch (const SQLite::Exception& error) {
        throw to_storage_error(error, "opening " + database_path(options).string());
    }
}

Follower::~Follower() = default;

void Follower::apply(const Entry& entry) {
    try {
        impl_->apply(entry);
    } catch (const SQLite::Exception& error) {
        throw to_storage_error(error, "applying " + name_of(entry.position));
    }
}

void Follower::migrate(const Entry& entry, int schema) {
    try {
        impl_->migrate(entry, schema);
    } catch (const SQLite::Exception& error) {
        throw to_storage_error(error, "applying " + name_of(entry.position));
    }
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
