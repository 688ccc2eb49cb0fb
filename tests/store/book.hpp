#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "store/commit_sink.hpp"
#include "store/follower.hpp"
#include "store/harness.hpp"
#include "support/temp_directory.hpp"

// Keeps what an owner has decided, as a journal does.
class Journal : public store::CommitSink {
public:
    [[nodiscard]] store::JournalPosition decide(const store::RowChanges& changes) override;
    void committed() noexcept override { ++commits; }

    // As the owner is to write them next.
    [[nodiscard]] store::Entry next(const store::RowChanges& changes) const;
    [[nodiscard]] store::JournalPosition end() const;

    std::vector<store::Entry> entries;
    std::vector<store::RowChanges> changes;  // of each entry
    std::uint64_t commits = 0;               // that were done locally as well
    std::uint64_t epoch = 1;
    // What stands between the owner and its journal, before and after the entry is in it. May
    // throw.
    std::function<void()> before = [] {};
    std::function<void()> after = [] {};
};

// Where every book of these tests begins.
[[nodiscard]] store::JournalPosition beginning();

// An owner, its journal, and one who follows, each with a file in a directory of its own.
struct Book : Harness {
    explicit Book(store::Options with = {});

    // The owner's file once more, as another process opens it.
    void open_owner();
    void open_follower();
    // All entries that the follower has not.
    void follow();
    // Everything but what is of one file alone.
    [[nodiscard]] static std::string rows_of(const store::Options& options);
    void check_equal() const;

    Journal journal;
    support::TempDirectory other_place;
    store::Options follower_options;
    std::unique_ptr<store::Follower> follower;
};
