#include "support/fault_vfs.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>
#include <sqlite3.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "support/temp_directory.hpp"

using support::FaultVfs;
using Operation = FaultVfs::Operation;
using Unsynced = FaultVfs::Unsynced;

namespace {

// A table of numbers on a disk that obeys.
struct Notebook {
    explicit Notebook(const std::string& synchronous = "full") {
        open();
        database->exec("pragma journal_mode = wal");
        database->exec("pragma wal_autocheckpoint = 0");
        database->exec("pragma synchronous = " + synchronous);
        database->exec("create table note (number)");
    }

    void open() {
        database = std::make_unique<SQLite::Database>(
            path(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, 0, vfs.name());
    }
    void write() { database->exec("insert into note values (1)"); }
    [[nodiscard]] int count() { return database->execAndGet("select count(*) from note").getInt(); }
    // The extended code of a write; 0 when it works.
    int code_of_write() {
        try {
            write();
            return SQLITE_OK;
        } catch (const SQLite::Exception& error) {
            return error.getExtendedErrorCode();
        }
    }
    void back_to_power() {
        database.reset();
        vfs.restore_power();
        open();
    }
    [[nodiscard]] std::string path() const { return (directory.path() / "notes.db").string(); }

    support::TempDirectory directory;
    FaultVfs vfs;
    std::unique_ptr<SQLite::Database> database;
};

}  // namespace

TEST_CASE("writes and syncs are counted: one sync per durable commit, none for a relaxed one") {
    struct Row {
        std::string synchronous;
        std::uint64_t syncs;
    };
    const Row table[] = {{"full", 5}, {"normal", 0}};
    for (const Row& row : table) {
        CAPTURE(row.synchronous);
        Notebook notebook(row.synchronous);
        notebook.write();
        const std::uint64_t writes = notebook.vfs.writes();
        const std::uint64_t syncs = notebook.vfs.syncs();
        for (int i = 0; i < 5; ++i) notebook.write();
        CHECK(notebook.vfs.writes() > writes);
        CHECK(notebook.vfs.syncs() - syncs == row.syncs);
    }
}

TEST_CASE("the planned operation fails with its code, once or from then on, until it is healed") {
    struct Row {
        std::string label;
        FaultVfs::Fault fault;
        int codes[4];  // of four writes; one of them is two writes and one sync
    };
    const Row table[] = {
        {"first write",
         {Operation::write, 1, SQLITE_IOERR_WRITE, false},
         {SQLITE_IOERR_WRITE, 0, 0, 0}},
        {"second write", {Operation::write, 2, SQLITE_FULL, false}, {SQLITE_FULL, 0, 0, 0}},
        {"third write", {Operation::write, 3, SQLITE_FULL, false}, {0, SQLITE_FULL, 0, 0}},
        {"from the third write on",
         {Operation::write, 3, SQLITE_FULL, true},
         {0, SQLITE_FULL, SQLITE_FULL, SQLITE_FULL}},
        {"second sync",
         {Operation::sync, 2, SQLITE_IOERR_FSYNC, false},
         {0, SQLITE_IOERR_FSYNC, 0, 0}},
        {"third of any",
         {Operation::any, 3, SQLITE_IOERR_FSYNC, false},
         {SQLITE_IOERR_FSYNC, 0, 0, 0}},
        {"never reached", {Operation::any, 1'000, SQLITE_FULL, true}, {0, 0, 0, 0}},
    };
    for (const Row& row : table) {
        CAPTURE(row.label);
        Notebook notebook;
        notebook.write();
        notebook.vfs.fail(row.fault);
        CHECK_FALSE(notebook.vfs.struck());
        int written = 1;
        bool failed = false;
        for (const int code : row.codes) {
            CHECK(notebook.code_of_write() == code);
            written += code == 0 ? 1 : 0;
            failed = failed || code != 0;
        }
        CHECK(notebook.vfs.struck() == failed);
        notebook.vfs.heal();
        CHECK(notebook.code_of_write() == 0);
        CHECK(notebook.count() == written + 1);
    }
}

TEST_CASE("a disk without room refuses to grow and takes again what was given back") {
    Notebook notebook;
    notebook.vfs.limit_growth(3 * 4'120);
    int written = 0;
    while (notebook.code_of_write() == 0) ++written;
    CHECK(written == 3);
    CHECK(notebook.code_of_write() == SQLITE_FULL);
    CHECK(notebook.count() == written);

    // The log starts again from its beginning, which grows nothing.
    notebook.vfs.limit_growth(2 * 4'096);
    notebook.database->exec("pragma wal_checkpoint(restart)");
    CHECK(notebook.code_of_write() == 0);

    notebook.vfs.release_growth();
    for (int i = 0; i < 10; ++i) CHECK(notebook.code_of_write() == 0);
}

TEST_CASE("a power cut takes what was not synced, and everything fails until power is back") {
    struct Row {
        std::string label;
        std::string synchronous;
        Unsynced unsynced;
        int left_min;
        int left_max;
    };
    const Row table[] = {
        {"synced", "full", Unsynced::lost, 5, 5},
        {"synced, torn", "full", Unsynced::torn, 5, 5},
        {"not synced", "normal", Unsynced::lost, 0, 0},
        {"not synced, torn", "normal", Unsynced::torn, 0, 5},
        {"not synced, the process died", "normal", Unsynced::kept, 5, 5},
    };
    for (const Row& row : table) {
        CAPTURE(row.label);
        Notebook notebook(row.synchronous);
        notebook.database->exec("pragma wal_checkpoint(truncate)");
        for (int i = 0; i < 5; ++i) notebook.write();
        notebook.vfs.cut_power(row.unsynced, 3);
        CHECK_FALSE(notebook.vfs.has_power());
        CHECK((notebook.code_of_write() & 0xff) == SQLITE_IOERR);
        CHECK_THROWS_AS(
            SQLite::Database(notebook.path(), SQLite::OPEN_READWRITE, 0, notebook.vfs.name()),
            SQLite::Exception);
        notebook.back_to_power();
        const int left = notebook.count();
        CHECK(left >= row.left_min);
        CHECK(left <= row.left_max);
        CHECK(notebook.database->execAndGet("pragma integrity_check").getString() == "ok");
        CHECK(notebook.code_of_write() == 0);
    }
}

TEST_CASE("a cut in the middle of a checkpoint leaves the log to do it again") {
    int cuts = 0;
    for (std::uint64_t nth = 1;; ++nth) {
        CAPTURE(nth);
        Notebook notebook;
        for (int i = 0; i < 200; ++i) notebook.write();
        notebook.vfs.cut_power_at(Operation::any, nth, Unsynced::torn, nth);
        try {
            notebook.database->exec("pragma wal_checkpoint(truncate)");
        } catch (const SQLite::Exception&) {
            CHECK_FALSE(notebook.vfs.has_power());
        }
        if (notebook.vfs.has_power()) break;
        ++cuts;
        notebook.back_to_power();
        CHECK(notebook.count() == 200);
        CHECK(notebook.database->execAndGet("pragma integrity_check").getString() == "ok");
    }
    CHECK(cuts > 3);
}

TEST_CASE("a delayed sync takes at least its delay") {
    using std::chrono::steady_clock;
    Notebook notebook;
    const std::chrono::milliseconds delay{3};
    notebook.vfs.delay_syncs(delay);
    const auto begin = steady_clock::now();
    notebook.write();
    CHECK(steady_clock::now() - begin >= delay);
}

TEST_CASE("without a memory for power cuts the same operations are counted and fail") {
    FaultVfs vfs(FaultVfs::Memory::none);
    const support::TempDirectory directory;
    SQLite::Database database((directory.path() / "notes.db").string(),
                              SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, 0, vfs.name());
    database.exec("create table note (number)");
    CHECK(vfs.writes() > 0);
    CHECK(vfs.syncs() > 0);
    vfs.fail({Operation::write, 1, SQLITE_FULL, false});
    CHECK_THROWS_AS(database.exec("insert into note values (1)"), SQLite::Exception);
    database.exec("insert into note values (2)");
    CHECK(database.execAndGet("select count(*) from note").getInt() == 1);
}
