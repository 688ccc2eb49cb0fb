#include "store/journaled_commits.hpp"

#include <cassert>
#include <exception>
#include <utility>

namespace store {

JournaledCommits::JournaledCommits(SQLite::Database& database, CommitSink& sink)
    : sink_(sink),
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
