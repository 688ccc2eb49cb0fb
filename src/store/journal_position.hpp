#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "domain/bytes.hpp"
#include "store/options.hpp"

namespace store {

// How far a file is in the journal of its book: all entries up to this one are in it, nothing else
// is.
struct JournalPosition {
    std::string book;
    std::int64_t shard = 0;
    std::uint64_t seq = 0;    // the number of the entry; 0: before the first one
    std::uint64_t epoch = 0;  // of the owner that wrote it
    domain::Bytes32 hash{};   // of the entry

    bool operator==(const JournalPosition&) const = default;
};

// The version of the schema that this program writes and reads.
[[nodiscard]] int newest_schema();

// What a file says of itself.
struct StoredPosition {
    JournalPosition position;
    std::optional<std::string> diverged;  // why it can not go on
};

// Makes the file of a single machine one of a book; a missing one is created, one of an older
// schema migrated before. While it runs it owns the data directory. Throws OpenError or
// StorageError.
void join_book(const Options& options, const JournalPosition& position);
// Makes it one of a single machine again. A file that has diverged stays what it is (OpenError).
void leave_book(const Options& options);
// Brings the file of a book to the schema of this program, in one transaction that `decide` makes
// an entry of the journal: given the schema, it returns the entry's position, or throws as
// CommitSink::decide does. For who owns the book, before a Store opens the file. False: it has that
// schema. Throws OpenError, StorageError or OwnershipLost.
bool migrate_book(const Options& options, const std::function<JournalPosition(int schema)>& decide);
// Nothing: a file of a single machine. Beside whoever has it open.
[[nodiscard]] std::optional<StoredPosition> stored_position(const Options& options);

}  // namespace store
