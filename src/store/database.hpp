#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <filesystem>
#include <memory>

#include "store/options.hpp"

namespace store {

enum class Membership {
    none,  // of a single machine: the file is made when it is missing, and migrated
    book,  // of several: a file that has a position in a journal, which alone brings changes to it
};

// Opens the file for writing: mode 0600, WAL, durability and secure_delete as they must be, of the
// newest schema, and checked. Throws OpenError when it is not as `membership` says, or can not be
// opened, and StorageError.
[[nodiscard]] std::unique_ptr<SQLite::Database> open_for_writing(const Options& options,
                                                                 Membership membership);

// Throws OpenError unless the file is ours and has the newest schema: for who reads it without a
// writer that saw to that.
void require_newest(SQLite::Database& database, const Options& options);

// Opens the existing file for reading only; such a connection never checkpoints.
[[nodiscard]] std::unique_ptr<SQLite::Database> open_for_reading(const Options& options);

// Opens a database or a backup as it is, be it of an older schema, and changes nothing. Throws
// OpenError when it is one of another program or of a newer version, StorageError when it can not
// be read.
[[nodiscard]] std::unique_ptr<SQLite::Database> open_for_checking(
    const std::filesystem::path& path);

// Creates the data directory (0700) when it is missing. Throws OpenError.
void make_directory(const Options& options);
// Says that the tables of an empty file are ours, of this schema; then brings them to the newest.
void make_ours(SQLite::Database& database, int schema);
void migrate_to_newest(SQLite::Database& database);

// Of a backup, which no service opens.
[[nodiscard]] int backup_application_id();
[[nodiscard]] bool is_backup(SQLite::Database& database);
[[nodiscard]] int schema_of(SQLite::Database& database);
[[nodiscard]] int newest_schema();

}  // namespace store
