#include <doctest/doctest.h>
#include <sqlite3.h>

#include <string>

#include "store/script.hpp"
#include "support/fault_vfs.hpp"

using support::FaultVfs;
using Operation = FaultVfs::Operation;

namespace {

// A cache that overflows brings writes, and so faults, into the middle of transactions.
store::Options with_cache(std::uint64_t bytes) {
    store::Options options;
    options.cache_bytes = bytes;
    return options;
}

}  // namespace

TEST_CASE("every step of the script but upkeep changes something") {
    const auto& contents = script::contents_after();
    REQUIRE(contents.size() == script::steps().size() + 1);
    int unchanged = 0;
    for (std::size_t i = 1; i < contents.size(); ++i) {
        unchanged += contents[i] == contents[i - 1] ? 1 : 0;
    }
    CHECK(unchanged == 2);
}

TEST_CASE("whatever write or sync fails, its code is told, nothing is half done, work goes on") {
    struct Row {
        std::string label;
        FaultVfs::Fault fault;  // its nth is tried from the first to the last
        store::StorageErrorKind kind;
        std::uint64_t cache_bytes;
        bool reopen;  // otherwise the same object goes on
    };
    constexpr std::uint64_t all = 1 << 20;
    constexpr std::uint64_t page = 4'096;
    const Row table[] = {
        {"a write",
         {Operation::write, 0, SQLITE_IOERR_WRITE, false},
         store::StorageErrorKind::io,
         all,
         false},
        {"all writes",
         {Operation::write, 0, SQLITE_IOERR_WRITE, true},
         store::StorageErrorKind::io,
         all,
         true},
        {"a full disk",
         {Operation::write, 0, SQLITE_FULL, true},
         store::StorageErrorKind::full,
         all,
         false},
        {"a write in a transaction",
         {Operation::write, 0, SQLITE_IOERR_WRITE, false},
         store::StorageErrorKind::io,
         page,
         false},
        {"a full disk in a transaction",
         {Operation::write, 0, SQLITE_FULL, false},
         store::StorageErrorKind::full,
         page,
         true},
        {"a sync",
         {Operation::sync, 0, SQLITE_IOERR_FSYNC, false},
         store::StorageErrorKind::io,
         all,
         false},
        {"a sync, then a new start",
         {Operation::sync, 0, SQLITE_IOERR_FSYNC, false},
         store::StorageErrorKind::io,
         all,
         true},
        {"all syncs",
         {Operation::sync, 0, SQLITE_IOERR_FSYNC, true},
         store::StorageErrorKind::io,
         all,
         false},
    };
    for (const Row& row : table) {
        CAPTURE(row.label);
        std::uint64_t nth = 0;
        std::uint64_t told = 0;
        while (true) {
            script::Run run(with_cache(row.cache_bytes));
            FaultVfs::Fault fault = row.fault;
            fault.nth = ++nth;
            run.vfs.fail(fault);
            const auto error = run.go_on();
            CAPTURE(nth);
            CAPTURE(run.next_step());
            if (!run.vfs.struck()) break;
            run.vfs.heal();
            if (error) {
                ++told;
                const std::string what = error->what();
                CAPTURE(what);
                CHECK(error->kind() == row.kind);
                CHECK(what.find("(SQLite code " + std::to_string(fault.code) + ")") !=
                      std::string::npos);
                if (row.reopen) run.close();
                if (!run.is_open()) run.open();
                CHECK(run.contents() == script::contents_after()[run.done]);
            }
            script::check_end(run);
        }
        CHECK(nth > 20);
        CHECK(told + 5 > nth);  // few have nobody to tell: what is only tidied up can wait
    }
}

TEST_CASE("a disk that is full at any size tells so and takes everything once there is room") {
    std::uint64_t full = 0;
    for (std::uint64_t room = 0;; room += 4'120) {
        CAPTURE(room);
        script::Run run;
        run.vfs.limit_growth(room);
        const auto error = run.go_on();
        if (!error) break;
        CHECK(error->kind() == store::StorageErrorKind::full);
        ++full;
        // Trying again without room changes nothing.
        if (run.is_open()) {
            const auto again = run.go_on();
            REQUIRE(again);
            CHECK(again->kind() == store::StorageErrorKind::full);
            CHECK(run.contents() == script::contents_after()[run.done]);
        }
        run.vfs.release_growth();
        script::check_end(run);
    }
    CHECK(full > 10);
}
