#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/change_recorder.hpp"
#include "store/commit_sink.hpp"
#include "store/journaled_tables.hpp"
#include "store/position_row.hpp"
#include "store/slices.hpp"
#include "store/statement.hpp"

namespace store {

// The transactions of a store that is journaled: recorded, decided by the sink, then committed.
class JournaledCommits {
public:
    // The file has a position; throws OpenError when it can not go on from there.
    JournaledCommits(SQLite::Database& database, CommitSink& sink);

    // Before a transaction. Throws OwnershipLost once that was thrown by a commit.
    void begin();
    // Runs `commit`, the statement, once the sink has decided. Throws StorageError, NotDecided or
    // StepTooLarge when nothing was decided, OwnershipLost otherwise.
    void commit(Statement& commit);
    [[nodiscard]] std::uint64_t changed_bytes() const { return recorder_.changed_bytes(); }

    [[nodiscard]] const JournalPosition& position() const { return position_; }

private:
    void decide_and_commit(const RowChanges& changes, Statement& commit);

    SQLite::Database& database_;
    CommitSink& sink_;
    const std::vector<JournaledTable> tables_;
    ChangeRecorder recorder_;
    Slices slices_;
    PositionRow row_;
    JournalPosition position_;
    domain::Bytes next_slice_;         // behind which row it begins
    std::optional<std::string> lost_;  // why the ownership ended
};

}  // namespace store
