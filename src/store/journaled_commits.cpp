#include "store/journaled_commits.hpp"

#include <sqlite3.h>

#include <cassert>
#include <exception>
#include <utility>

namespace store {

namespace {

void require_ok(int code) {
    if (code == SQLITE_OK) return;
    throw to_storage_error({sqlite3_errstr(code), code}, "writing ahead");
}

// What the transaction has changed goes into the write-ahead log, uncommitted: a disk without room
// says so before anything is decided. The commit adds the page of the position, and one or two.
void write_ahead(SQLite::Database& database) {
    sqlite3* const handle = database.getHandle();
    require_ok(sqlite3_db_cacheflush(handle));
    sqlite3_file* log = nullptr;
    require_ok(sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log));
    sqlite3_int64 bytes = 0;
    require_ok(log->pMethods->xFileSize(log, &bytes));  // has our VFS write what it still keeps
}

}  // namespace

JournaledCommits::JournaledCommits(SQLite::Database& database, CommitSink& sink)
    : database_(database),
      sink_(sink),
      tables_(journaled_tables(database)),
      recorder_(database, tables_),
      slices_(database, tables_),
      row_(database),
      position_(position_to_go_on(row_)) {}

void JournaledCommits::begin() {
    if (lost_) throw OwnershipLost(*lost_);
    recorder_.begin();
}

void JournaledCommits::commit(Statement& commit) {
    domain::Bytes patchset = recorder_.patchset();
    recorder_.end();
    if (patchset.empty()) {
        commit.run();
        return;
    }
    if (patchset.size() > patchset_bytes_max) {
        throw StepTooLarge("a transaction changed " + std::to_string(patchset.size()) +
                           " bytes; an entry of the journal has room for " +
                           std::to_string(patchset_bytes_max));
    }
    Slices::Read slice = slices_.read(next_slice_).value();
    write_ahead(database_);
    decide_and_commit({std::move(patchset), {next_slice_, slice.digest}}, commit);
    next_slice_ = std::move(slice.last);
    sink_.committed();
}

void JournaledCommits::decide_and_commit(const RowChanges& changes, Statement& commit) {
    try {
        const JournalPosition decided = sink_.decide(changes);
        assert(decided.book == position_.book && decided.shard == position_.shard);
        assert(decided.seq == position_.seq + 1 && decided.epoch >= position_.epoch);
        row_.write(decided);
        commit.run();
        position_ = decided;
    } catch (const NotDecided&) {
        throw;
    } catch (const std::exception& error) {
        // Also when the disk took no commit: the journal has what the file has not.
        lost_ = error.what();
        throw OwnershipLost(*lost_);
    }
}

}  // namespace store
