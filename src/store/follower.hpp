#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

#include "domain/bytes.hpp"
#include "store/errors.hpp"
#include "store/journal_position.hpp"
#include "store/options.hpp"

namespace store {

// An entry is not the next one of this file, is damaged, or is about tables it has not. The file is
// as it was and takes the right entry.
class EntryRefused : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// The rows of the file are not those that the journal was written from: it can not go on, and says
// so in its position. Only a snapshot helps.
class Diverged : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// One entry of the journal, decrypted; of one that migrates there are no changes.
struct Entry {
    JournalPosition position;
    domain::Bytes32 previous{};  // hash of the entry before
    domain::Bytes changes;       // as encode_changes() wrote them
};

// The one writer of a file that follows a journal: entries in their order. One thread. What a power
// cut takes of it comes again from the journal: it does not wait for its disk. Failures of the disk
// throw StorageError; nothing of what was to be applied stays, and it may be applied again. On a
// full disk the reserve that an owner has left is given up.
class Follower {
public:
    // Takes the owner lock and opens a file that belongs to a book, be it of an older schema;
    // neither makes nor migrates it.
    // Throws OpenError or StorageError.
    explicit Follower(const Options& options);
    ~Follower();
    Follower(const Follower&) = delete;
    Follower& operator=(const Follower&) = delete;

    // In one transaction. Throws EntryRefused or Diverged (then and ever after) at the first that
    // does not fit, and those before it stay; or StorageError.
    void apply(std::span<const Entry> entries);
    void apply(const Entry& entry) { apply(std::span{&entry, 1}); }
    // Same, of an entry that brings the file to this schema, which is newer than its own.
    void migrate(const Entry& entry, int schema);

    // Of the file; this program may know a newer one.
    [[nodiscard]] int schema() const;

    // Of the last entry that was applied.
    [[nodiscard]] const JournalPosition& position() const;
    // Why it can not go on.
    [[nodiscard]] const std::optional<std::string>& diverged() const;
    // How far the file is on the disk, as of the last checkpoint; nothing: not known.
    [[nodiscard]] const std::optional<JournalPosition>& synced_position() const;

    // As those of Store.
    [[nodiscard]] std::uint64_t wal_bytes() const;
    void checkpoint();
    void truncate_wal();
    [[nodiscard]] bool wal_holds_wiped_data() const;
    void require_in_place() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace store
