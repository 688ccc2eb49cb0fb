#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "domain/bytes.hpp"
#include "store/journaled_tables.hpp"

struct sqlite3_session;

namespace store {

// Records what a transaction changes. Throws StorageError.
class ChangeRecorder {
public:
    // `tables` must outlive it.
    ChangeRecorder(SQLite::Database& database, const std::vector<JournaledTable>& tables);

    // Forgets what it had and records from now on.
    void begin();
    // What was changed since, with the values as they are now; empty when in the end nothing was.
    // Deletes carry only keys.
    [[nodiscard]] domain::Bytes patchset();
    // At least the size of patchset(), without making it. Deletes count with whole rows, but for
    // those of which count_keys() was told.
    [[nodiscard]] std::uint64_t changed_bytes() const;
    // So many rows, with keys of so many bytes, were deleted since changed_bytes() was `before`.
    void count_keys(std::uint64_t before, std::uint64_t rows, std::uint64_t key_bytes);
    void end() noexcept { session_.reset(); }

private:
    struct End {
        void operator()(sqlite3_session* session) const noexcept;
    };

    void require(int code, const char* while_doing);

    SQLite::Database& database_;
    const std::vector<JournaledTable>& tables_;
    std::unique_ptr<sqlite3_session, End> session_;
    std::uint64_t not_written_ = 0;  // counted by the session, but in no patchset
};

}  // namespace store
