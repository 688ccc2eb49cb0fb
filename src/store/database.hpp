#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <filesystem>
#include <memory>

#include "store/journal_position.hpp"
#include "store/options.hpp"
#include "store/owner_lock.hpp"

namespace store {

enum class Membership {
    none,  // of a single machine: the file is made when it is missing, and migrated
    book,  // of several: a file that has a position in a journal, which alone brings changes to it
    book_of_any_schema,  // the same, also of an older schema
};

// Opens the file for writing: mode 0600, WAL, durability and secure_delete as they must be, of the
// newest schema unless membership says otherwise, and checked. Throws OpenError when it is not as
// `membership` says, or can not be opened, and StorageError.
[[nodiscard]] std::unique_ptr<SQLite::Database> open_for_writing(const Options& options,
                                                                 Membership membership);

// Throws OpenError unless the file is ours and has the newest schema: for who reads it without a
// writer that saw to that.
void require_newest(SQLite::Database& database, const Options& options);

// Same of a file of a single machine; in a book files wait for an entry that migrates them.
void require_known(SQLite::Database& database, const Options& options);

// Opens the existing file for reading only; such a connection never checkpoints.
[[nodiscard]] std::unique_ptr<SQLite::Database> open_for_reading(const Options& options);

// Opens a database or a backup as it is, be it of an older schema, and changes nothing. Throws
// OpenError when it is one of another program or of a newer version, StorageError when it can not
// be read.
[[nodiscard]] std::unique_ptr<SQLite::Database> open_for_checking(
    const std::filesystem::path& path);

// Says that the tables of an empty file are ours, of this schema; then brings them to the newest.
void make_ours(SQLite::Database& database, int schema);
void migrate_to_newest(SQLite::Database& database);
// The same for a file of a book, inside a transaction.
void migrate_member(SQLite::Database& database, const Options& options, int schema);

// Of a backup, which no service opens.
[[nodiscard]] int backup_application_id();
[[nodiscard]] bool is_backup(SQLite::Database& database);
[[nodiscard]] int schema_of(SQLite::Database& database);
[[nodiscard]] int newest_schema(const Options& options);

}  // namespace store
