#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <memory>

#include "store/database.hpp"
#include "store/file_identity.hpp"
#include "store/options.hpp"
#include "store/owner_lock.hpp"

namespace store {

// The database file as its one writer has it: the lock of its directory, the connection, and how
// long its write-ahead log is. One thread. Throws OpenError and StorageError, and the constructor
// SQLite::Exception as well.
class WrittenFile {
public:
    WrittenFile(const Options& options, Membership membership);
    ~WrittenFile();
    WrittenFile(const WrittenFile&) = delete;
    WrittenFile& operator=(const WrittenFile&) = delete;

    [[nodiscard]] SQLite::Database& database() { return *database_; }
    [[nodiscard]] bool in_transaction() const;
    // Does nothing when there is nothing to roll back.
    void roll_back() noexcept;

    [[nodiscard]] std::uint64_t wal_bytes() const;
    // Copies the log into the file as far as readers allow; never waits for them. Whether all that
    // is committed is on the disk now, whatever `synchronous` says.
    bool checkpoint();
    // Same, and cuts the log to nothing if no reader is in the way. Outside a transaction.
    bool truncate_wal();

    // Secrets were deleted: they lie in the log until it is cut.
    void note_wiped() { wiped_ = true; }
    [[nodiscard]] bool wal_holds_wiped_data() const { return wiped_; }

    void require_in_place() const;

private:
    bool checkpoint(int mode);

    const OwnerLock lock_;
    const std::uint64_t log_at_start_;
    std::unique_ptr<SQLite::Database> database_;
    const FileIdentity database_file_;
    const FileIdentity lock_file_;
    const std::uint64_t page_bytes_;
    int wal_pages_;
    bool wiped_;
};

}  // namespace store
