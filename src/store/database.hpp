#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <memory>

#include "store/options.hpp"

namespace store {

// Opens the file for writing: creates it 0600, sets WAL, durability and secure_delete, migrates it
// to the newest schema and checks it. Throws OpenError or StorageError.
[[nodiscard]] std::unique_ptr<SQLite::Database> open_for_writing(const Options& options);

// Throws OpenError unless the file is ours and has the newest schema: for who reads it without a
// writer that saw to that.
void require_newest(SQLite::Database& database, const Options& options);

// Opens the existing file for reading only; such a connection never checkpoints.
[[nodiscard]] std::unique_ptr<SQLite::Database> open_for_reading(const Options& options);

}  // namespace store
