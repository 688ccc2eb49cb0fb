#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "domain/bytes.hpp"
#include "store/journaled_tables.hpp"

namespace store {

// Records what a transaction changes, row by row as SQLite tells it (sqlite3_preupdate_hook, of
// which a connection has one). SQLite's own sessions do the same, but ask for each table anew in
// each transaction, and read every row again. Statements that fail are not taken back: a
// transaction in which one failed must not be committed.
class ChangeRecorder {
public:
    // `tables` must outlive it.
    ChangeRecorder(SQLite::Database& database, const std::vector<JournaledTable>& tables);
    ~ChangeRecorder();
    ChangeRecorder(const ChangeRecorder&) = delete;
    ChangeRecorder& operator=(const ChangeRecorder&) = delete;

    // Forgets what it had and records from now on.
    void begin();
    // What was changed since, in the format of SQLite's patchsets (sqlite3session.h): of inserts
    // all values, of updates the key and what changed, of deletes the key. Empty when in the end
    // nothing was. Throws StorageError.
    [[nodiscard]] domain::Bytes patchset() const;
    // At least the size of patchset(), without making it.
    [[nodiscard]] std::uint64_t changed_bytes() const { return bytes_; }
    void end() noexcept;

private:
    class Table;

    static void note_change(void* self, sqlite3* handle, int operation, const char* database,
                            const char* table, long long old_rowid, long long new_rowid);
    void note(int operation, const char* table);

    SQLite::Database& database_;
    std::vector<std::unique_ptr<Table>> tables_;
    std::uint64_t bytes_ = 0;
    bool failed_ = false;
};

}  // namespace store
