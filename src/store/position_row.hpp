#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <optional>
#include <string>

#include "store/journal_position.hpp"
#include "store/statement.hpp"

namespace store {

// The one row of `journal_position`, on the connection that writes. Throws StorageError.
class PositionRow {
public:
    explicit PositionRow(SQLite::Database& database);

    [[nodiscard]] std::optional<StoredPosition> read();
    void write(const JournalPosition& position);
    void mark_diverged(const std::string& why);
    void drop();

private:
    Statement read_;
    Statement write_;
    Statement mark_;
    Statement drop_;
};

// Throws OpenError when the file belongs to no book, or has diverged from it.
[[nodiscard]] JournalPosition position_to_go_on(PositionRow& row);

// Also of a file whose schema is too old to have the table. Throws SQLite::Exception.
[[nodiscard]] bool belongs_to_book(SQLite::Database& database);

}  // namespace store
