#include "store/coalescing_vfs.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>
#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "support/fault_vfs.hpp"
#include "support/temp_directory.hpp"

namespace {

using support::FaultVfs;

constexpr int page_bytes = 4096;

// A database behind the VFS, behind which its writes are counted and fail.
class Written {
public:
    explicit Written(int cache_pages = 1000) {
        database.exec(
            "pragma page_size = 4096; pragma journal_mode = wal; "
            "pragma wal_autocheckpoint = 0; pragma synchronous = full");
        database.exec("pragma cache_size = " + std::to_string(cache_pages));
        database.exec("create table note (id integer primary key, body blob)");
    }

    void insert(int pages) {
        SQLite::Statement insert(database, "insert into note (body) values (zeroblob(?))");
        insert.bind(1, pages * page_bytes);
        insert.exec();
    }
    [[nodiscard]] int seen_by_another() const {
        SQLite::Database other(path, SQLite::OPEN_READONLY);
        return other.execAndGet("select count(*) from note").getInt();
    }
    [[nodiscard]] std::string check() {
        return database.execAndGet("pragma integrity_check").getString();
    }

    const support::TempDirectory directory;
    const std::string path = (directory.path() / "notes.db").string();
    FaultVfs disk{FaultVfs::Memory::none};
    SQLite::Database database{path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, 0,
                              store::coalescing_vfs(disk.name())};
};

}  // namespace

TEST_CASE("what a transaction adds to the log is one write, and others see it at once") {
    for (const char* synchronous : {"full", "normal"}) {
        CAPTURE(synchronous);
        Written notes;
        notes.database.exec(std::string("pragma synchronous = ") + synchronous);
        notes.insert(1);
        int expected = 1;
        for (const int pages : {1, 2, 10, 25}) {
            CAPTURE(pages);
            const std::uint64_t before = notes.disk.writes();
            notes.insert(pages);
            CHECK(notes.disk.writes() == before + 1);
            CHECK(notes.seen_by_another() == ++expected);
        }
        CHECK(notes.check() == "ok");
    }
}

TEST_CASE("a long transaction is written in pieces") {
    Written notes;
    const std::uint64_t before = notes.disk.writes();
    notes.insert(500);
    const std::uint64_t writes = notes.disk.writes() - before;
    CHECK(writes >= 500 * page_bytes / (128 << 10));
    CHECK(writes < 30);
    CHECK(notes.seen_by_another() == 1);
    CHECK(notes.check() == "ok");
}

TEST_CASE("a transaction that reads back what it has written finds it") {
    Written notes(10);
    notes.database.exec("begin");
    for (int row = 0; row < 100; ++row) notes.insert(1);
    CHECK(notes.database.execAndGet("select sum(length(body)) from note").getInt64() ==
          100LL * page_bytes);
    notes.database.exec("update note set body = zeroblob(100) where id % 2 = 0");
    CHECK(notes.seen_by_another() == 0);
    notes.database.exec("commit");
    CHECK(notes.seen_by_another() == 100);
    CHECK(notes.check() == "ok");
}

TEST_CASE("a page that is written twice in a transaction is there after a kill") {
    for (const char* synchronous : {"full", "normal"}) {
        CAPTURE(synchronous);
        Written notes(10);
        notes.database.exec(std::string("pragma synchronous = ") + synchronous);
        for (int row = 0; row < 40; ++row) notes.insert(1);
        // More pages than the cache has, and the first ones once more.
        notes.database.exec("begin");
        notes.database.exec("update note set body = randomblob(length(body))");
        notes.database.exec("update note set body = x'01' where id <= 5");
        notes.database.exec("commit");
        notes.insert(1);
        // What is on the disk, without the memory that processes share.
        for (const char* suffix : {"", "-wal"}) {
            std::filesystem::copy_file(notes.path + suffix, notes.directory.file("copy") + suffix);
        }
        SQLite::Database copy(notes.directory.file("copy"), SQLite::OPEN_READWRITE);
        CHECK(copy.execAndGet("select count(*) from note").getInt() == 41);
        CHECK(copy.execAndGet("select count(*) from note where body = x'01'").getInt() == 5);
        CHECK(copy.execAndGet("pragma integrity_check").getString() == "ok");
    }
}

TEST_CASE("what was taken back is not written over what another connection commits then") {
    for (int rows = 1; rows <= 60; ++rows) {
        CAPTURE(rows);
        Written notes(10);
        notes.insert(1);
        notes.database.exec("begin");
        for (int row = 0; row < rows; ++row) notes.insert(1);
        notes.database.exec("rollback");
        {
            SQLite::Database other(notes.path, SQLite::OPEN_READWRITE);
            other.exec("insert into note (body) values (zeroblob(20000))");
        }
        notes.insert(1);
        REQUIRE(notes.check() == "ok");
        REQUIRE(notes.seen_by_another() == 3);
    }
}

TEST_CASE("a write that fails takes its transaction back, and the next one is whole") {
    for (const int code : {SQLITE_FULL, SQLITE_IOERR_WRITE}) {
        // Of the pieces of a long one each.
        for (std::uint64_t nth = 1; nth <= 5; ++nth) {
            CAPTURE(code);
            CAPTURE(nth);
            Written notes;
            notes.insert(1);
            notes.disk.fail({FaultVfs::Operation::write, nth, code, false});
            try {
                notes.insert(140);
                FAIL("it did not fail");
            } catch (const SQLite::Exception& error) {
                CHECK(error.getExtendedErrorCode() == code);
            }
            CHECK(notes.disk.struck());
            notes.disk.heal();
            CHECK(notes.seen_by_another() == 1);
            notes.insert(2);
            CHECK(notes.seen_by_another() == 2);
            CHECK(notes.check() == "ok");
        }
    }
}

TEST_CASE("a checkpoint, a log that begins again and a file that is opened again are as ever") {
    Written notes;
    for (int round = 0; round < 5; ++round) {
        for (int row = 0; row < 20; ++row) notes.insert(1);
        notes.database.exec(round % 2 == 0 ? "pragma wal_checkpoint(restart)"
                                           : "pragma wal_checkpoint(truncate)");
        SQLite::Database again(notes.path, SQLite::OPEN_READWRITE, 0,
                               store::coalescing_vfs(notes.disk.name()));
        CHECK(again.execAndGet("select count(*) from note").getInt() == 20 * (round + 1));
    }
    CHECK(notes.check() == "ok");
}

TEST_CASE("there is one of each name, and none over nothing") {
    CHECK(store::coalescing_vfs("") == store::coalescing_vfs(""));
    CHECK_THROWS_AS((void)store::coalescing_vfs("no such VFS"), std::runtime_error);
}
