#pragma once

#include <stdexcept>

#include "store/errors.hpp"
#include "store/journal_position.hpp"
#include "store/row_changes.hpp"

namespace store {

// Nobody was asked to decide: the transaction rolls back, and the same may be tried again.
class NotDecided : public StorageError {
public:
    explicit NotDecided(const std::string& what) : StorageError(StorageErrorKind::other, what) {}
};

// A transaction changed more than an entry may hold: it rolls back, and the same would fail again.
class StepTooLarge : public StorageError {
public:
    explicit StepTooLarge(const std::string& what) : StorageError(StorageErrorKind::other, what) {}
};

// What becomes of the transaction is not this store's to know: another owner may go on from either
// outcome. Nothing is tried again; the file is opened anew and takes what the journal has. No
// StorageError, so that nobody takes it for a disk that heals.
class OwnershipLost : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// Where a journaled store has its transactions decided. Called on the thread of the store.
class CommitSink {
public:
    CommitSink() = default;
    CommitSink(const CommitSink&) = delete;
    CommitSink& operator=(const CommitSink&) = delete;
    virtual ~CommitSink() = default;

    // After the last statement of a transaction that changed something, before its local commit.
    // When it returns, the changes are decided: they are the next entry of the journal, and the
    // local commit follows, with the entry's position in it, which is one further than the store's.
    // Throws NotDecided as long as nothing was sent. Anything else it throws ends the ownership.
    [[nodiscard]] virtual JournalPosition decide(const RowChanges& changes) = 0;
    // The local commit was done as well.
    virtual void committed() noexcept = 0;
};

}  // namespace store
