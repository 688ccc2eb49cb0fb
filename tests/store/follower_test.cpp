// A file that follows: what it takes, what it refuses, and what is left when its disk fails.

#include "store/follower.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "store/book.hpp"
#include "store/change_recorder.hpp"
#include "store/digest.hpp"
#include "store/filled_store.hpp"
#include "store/row_changes.hpp"
#include "store/script.hpp"
#include "store/snapshot.hpp"
#include "support/contains.hpp"
#include "support/fault_vfs.hpp"

using domain::Kind;
using support::FaultVfs;

namespace {

void run_script(Book& book, std::size_t until = script::steps().size()) {
    for (std::size_t i = 0; i < until; ++i) script::steps()[i].run(*book.store);
}

// As another program would; nobody has the file open.
void spoil(const store::Options& options, const std::string& statements) {
    SQLite::Database(store::database_path(options).string(), SQLite::OPEN_READWRITE)
        .exec(statements);
}

// Of all tables, also those that no store journals.
std::vector<store::JournaledTable> all_tables(SQLite::Database& database) {
    std::vector<store::JournaledTable> tables;
    SQLite::Statement columns(database,
                              "select m.name, c.name, c.cid, c.pk from sqlite_schema m, "
                              "pragma_table_info(m.name) c where m.type = 'table' order by 1, 3");
    while (columns.executeStep()) {
        const std::string name = columns.getColumn(0).getString();
        if (tables.empty() || tables.back().name != name) tables.push_back({name, {}, {}});
        store::JournaledTable& table = tables.back();
        table.columns.push_back(columns.getColumn(1).getString());
        const int place = columns.getColumn(3).getInt();
        if (std::cmp_greater(place, table.key.size())) {
            table.key.resize(static_cast<std::size_t>(place));
        }
        if (place > 0)
            table.key[static_cast<std::size_t>(place) - 1] = columns.getColumn(2).getInt();
    }
    return tables;
}

// What is recorded of `changes` in a database of its own.
domain::Bytes recorded(const std::string& schema, const std::string& changes) {
    SQLite::Database database(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    database.exec(schema);
    const std::vector<store::JournaledTable> tables = all_tables(database);
    store::ChangeRecorder recorder(database, tables);
    recorder.begin();
    database.exec(changes);
    return recorder.patchset();
}

// The next entry of the book, with another patchset.
store::Entry with_patchset(const Book& book, domain::Bytes patchset) {
    store::RowChanges changes = book.journal.changes.back();
    changes.patchset = std::move(patchset);
    store::Entry entry = book.journal.entries.back();
    entry.changes = store::encode_changes(changes);
    return entry;
}

// The script's entries, and what is in a file after so many of them.
struct Recording {
    Recording() {
        rows_after.push_back(Book::rows_of(book_.follower_options));
        for (const script::Step& step : script::steps()) {
            step.run(*book_.store);
            if (book_.journal.entries.size() == entries.size()) continue;
            entries.push_back(book_.journal.entries.back());
            book_.follow();
            rows_after.push_back(Book::rows_of(book_.follower_options));
        }
        store::join_book(blank_in(blank_), beginning());
    }

    // A file of the book before its first entry.
    [[nodiscard]] store::Options blank(const support::TempDirectory& directory) const {
        store::Options options = blank_in(directory);
        std::filesystem::copy(store::database_path(blank_in(blank_)),
                              store::database_path(options));
        return options;
    }

    std::vector<store::Entry> entries;
    std::vector<std::string> rows_after;

private:
    static store::Options blank_in(const support::TempDirectory& directory) {
        store::Options options;
        options.directory = directory.path();
        return options;
    }

    Book book_;
    support::TempDirectory blank_;
};

std::string bytes_of(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

}  // namespace

TEST_CASE("a follower has after every entry what the owner had") {
    Book book;
    for (const script::Step& step : script::steps()) {
        CAPTURE(step.label);
        step.run(*book.store);
        book.follow();
        book.check_equal();
    }
    CHECK(integrity(book.follower_options) == "ok");
    // Another process goes on, with either file as the owner's.
    book.close();
    book.open_follower();
    CHECK(book.follower->position() == book.journal.end());
    std::swap(book.options, book.follower_options);
    book.follower.reset();
    book.open_owner();
    book.open_follower();
    book.add(rows::row(Kind::user_decrypt, 500), domain::Bytes(100, 1));
    book.follow();
    book.check_equal();
}

TEST_CASE("the same answer under another position, in one step, finds its place") {
    Book book;
    const domain::Bytes32 reference = rows::bytes32(1);
    book.commit([&] {
        CHECK(book.store->hold_answer(rows::bytes32(2), {0, {9}}, rows::start));
        CHECK(book.store->hold_answer(reference, {0, {1}}, rows::start));
    });
    book.commit([&] {
        book.store->drop_answers(rows::bytes32(2));
        book.store->drop_answers(reference);
        CHECK(book.store->hold_answer(rows::bytes32(3), {0, {8}}, rows::start));
        CHECK(book.store->hold_answer(reference, {0, {2}}, rows::start));
    });
    book.follow();
    book.check_equal();
}

TEST_CASE("an entry that is not the next one, or not whole, is refused and the next one is taken") {
    Book book;
    run_script(book, 4);
    book.follow();
    script::steps()[4].run(*book.store);
    const store::Entry right = book.journal.entries.back();
    struct Row {
        std::string label;
        std::function<void(store::Entry&)> spoil;
        const char* problem;
    };
    const Row table[] = {
        {"of another book", [](auto& entry) { entry.position.book = "other"; },
         "is not for a file of book main, shard 3"},
        {"of another shard", [](auto& entry) { entry.position.shard = 4; }, "shard 4"},
        {"the one before", [&](auto& entry) { entry = book.journal.entries[3]; },
         "does not follow 4"},
        {"the one after", [](auto& entry) { ++entry.position.seq; }, "does not follow 4"},
        {"of an earlier owner", [](auto& entry) { entry.position.epoch = 0; }, "of epoch 0"},
        {"of another branch", [](auto& entry) { ++entry.previous[31]; }, "follows another entry"},
        {"nothing", [](auto& entry) { entry.changes.clear(); }, "is damaged"},
        {"of another format", [](auto& entry) { entry.changes[0] = 2; }, "is damaged"},
        {"with a byte too many", [](auto& entry) { entry.changes.push_back(0); }, "is damaged"},
    };
    const std::string before = book.contents();
    const std::string file = contents(book.follower_options);
    const auto refuse = [&](const store::Entry& wrong, const char* problem) {
        try {
            book.follower->apply(wrong);
            FAIL_CHECK("it was applied");
        } catch (const store::EntryRefused& error) {
            const std::string said = error.what();
            CAPTURE(said);
            CHECK(support::contains(said, problem));
        }
    };
    for (const Row& row : table) {
        CAPTURE(row.label);
        store::Entry wrong = right;
        row.spoil(wrong);
        refuse(wrong, row.problem);
        CHECK(contents(book.follower_options) == file);
    }
    for (std::size_t place = 0; place < right.changes.size(); ++place) {
        CAPTURE(place);
        store::Entry tampered = right;
        tampered.changes[place] ^= 0x10;
        refuse(tampered, "is damaged");
        store::Entry cut = right;
        cut.changes.resize(place);
        refuse(cut, "is damaged");
    }
    CHECK(contents(book.follower_options) == file);
    CHECK_FALSE(book.follower->diverged());
    book.follower->apply(right);
    book.check_equal();
    CHECK(book.contents() == before);
}

TEST_CASE("a patchset for other tables than the file's is refused: SQLite would pass over it") {
    Book book;
    book.commit([&] { book.store->set({"name", "1"}); });
    const std::string setting =
        "create table setting (name text primary key, value text not null) without rowid;";
    const std::string change = "insert into setting values ('a', '1')";
    domain::Bytes changeset = recorded(setting, change);
    changeset.front() = 'T';
    struct Row {
        std::string label;
        domain::Bytes patchset;
        const char* problem;
    };
    const Row table[] = {
        {"a table that is not there",
         recorded("create table note (id integer primary key)", "insert into note values (1)"),
         "there is no table note"},
        {"the position",
         recorded("create table journal_position (id integer primary key, book text)",
                  "insert into journal_position values (2, 'x')"),
         "there is no table journal_position"},
        {"behind what is known",
         recorded(setting + "create table unknown (id integer primary key)",
                  change + "; insert into unknown values (1)"),
         "there is no table unknown"},
        {"a column too many",
         recorded("create table setting (name text primary key, value text, more text)",
                  "insert into setting values ('a', '1', '2')"),
         "has 2 columns, not 3"},
        {"a column too few",
         recorded("create table setting (name text primary key)",
                  "insert into setting values ('a')"),
         "has 2 columns, not 1"},
        {"another key",
         recorded("create table setting (name text, value text primary key)",
                  "insert into setting values ('a', '1')"),
         "has another key"},
        {"a longer key",
         recorded("create table setting (name text, value text, primary key (name, value))",
                  "insert into setting values ('a', '1')"),
         "has another key"},
        {"a changeset", changeset, "it is no patchset"},
        {"no patchset at all", {0x50}, "it can not be read"},
        {"another byte", {0x00, 0x01}, "it is no patchset"},
    };
    const std::string file = contents(book.follower_options);
    for (const Row& row : table) {
        CAPTURE(row.label);
        try {
            book.follower->apply(with_patchset(book, row.patchset));
            FAIL_CHECK("it was applied");
        } catch (const store::EntryRefused& error) {
            const std::string said = error.what();
            CAPTURE(said);
            CHECK(support::contains(said, row.problem));
        }
        CHECK(contents(book.follower_options) == file);
    }
    CHECK_FALSE(book.follower->diverged());
    book.follow();
    book.check_equal();
}

TEST_CASE("a patchset that is cut or made up changes no row, whoever signed it") {
    Book book;
    run_script(book, 2);
    book.follow();
    script::steps()[2].run(*book.store);
    const domain::Bytes whole = book.journal.changes.back().patchset;
    const std::string before = contents(book.follower_options);
    std::uint64_t refused = 0;
    std::uint64_t diverged = 0;
    const auto apply = [&](domain::Bytes patchset) {
        try {
            book.follower->apply(with_patchset(book, std::move(patchset)));
            FAIL_CHECK("it was applied");
        } catch (const store::EntryRefused&) {
            ++refused;
        } catch (const store::Diverged&) {
            ++diverged;
            book.follower.reset();
            spoil(book.follower_options, "update journal_position set diverged = null");
            CHECK(contents(book.follower_options) == before);
            book.open_follower();
        }
    };
    for (std::size_t length = 0; length < whole.size(); ++length) {
        CAPTURE(length);
        apply({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)});
    }
    CHECK(contents(book.follower_options) == before);
    CHECK(refused > 20);
    // Where a change ended.
    CHECK(diverged > 1);
    CHECK(diverged < 10);
    // A row that was moved by somebody else.
    apply(
        recorded("create table cursor (listener text primary key, position integer) "
                 "without rowid",
                 "insert into cursor values ('chain', 99)"));
    CHECK(contents(book.follower_options) == before);
    book.follow();
    book.check_equal();
}

TEST_CASE("a file whose rows are not the owner's is found, marked, and goes on no more") {
    struct Row {
        std::string label;
        std::string spoil;  // the follower's file
        const char* problem;
    };
    const Row table[] = {
        {"a row too many for an insert", "insert into setting values ('b', '2')",
         "insert of setting: the row is there already"},
        {"a row too few for an update", "delete from setting where name = 'a'",
         "update of setting: the row is not there"},
        {"a row too few for a delete", "delete from cursor where listener = 'gone'",
         "delete of cursor: the row is not there"},
        {"a rule in the way",
         "insert into round (id, round_id, vote_end_ms) select 99, x'" +
             domain::to_hex(rows::bytes32(9)) + "', 1",
         "insert of round: the row breaks a rule of the schema"},
        {"a value in another row", "update setting set value = '7' where name = 'untouched'",
         "a slice of rows"},
        {"a row too many elsewhere", "insert into hold (id, since_ms) values (1, 2)",
         "a slice of rows"},
        {"a row too few elsewhere", "delete from setting where name = 'untouched'",
         "a slice of rows"},
    };
    for (const Row& row : table) {
        CAPTURE(row.label);
        Book book;
        book.commit([&] {
            book.store->set({"a", "1"});
            book.store->set({"untouched", "1"});
            book.store->set_cursor("gone", 1);
        });
        book.follow();
        const store::JournalPosition position = book.follower->position();
        book.follower.reset();
        spoil(book.follower_options, row.spoil);
        book.open_follower();
        const std::string file = Book::rows_of(book.follower_options);
        book.commit([&] {
            book.store->set({"a", "2"});
            book.store->set({"b", "1"});
            book.store->forget_listening(1'000);
            CHECK(book.store->round(rows::bytes32(9), rows::start) == 1);
        });
        for (int i = 0; i < 3; ++i) {
            CAPTURE(i);
            try {
                book.follow();
                FAIL_CHECK("it was applied");
            } catch (const store::Diverged& error) {
                const std::string said = error.what();
                CAPTURE(said);
                CHECK(support::contains(said, "entry 2 of book main, shard 3: "));
                CHECK(support::contains(said, row.problem));
                CHECK(book.follower->diverged() == said);
                CHECK(store::stored_position(book.follower_options)->diverged == said);
            }
            CHECK(book.follower->position() == position);
            if (i == 1) book.open_follower();
        }
        // Nor does anybody else go on with it.
        book.follower.reset();
        book.close();
        CHECK_THROWS_AS(store::leave_book(book.follower_options), store::OpenError);
        CHECK_THROWS_AS((store::Store{book.follower_options, book.journal}), store::OpenError);
        spoil(book.follower_options, "update journal_position set diverged = null");
        CHECK(Book::rows_of(book.follower_options) == file);
    }
}

TEST_CASE("in rotation every row is compared, wherever it is") {
    Book book;
    constexpr std::int64_t requests = 1'300;
    for (std::int64_t number = 1; number <= requests; number += 100) {
        book.commit([&] {
            for (std::int64_t next = number; next < number + 100; ++next) {
                book.store->insert({rows::row(Kind::user_decrypt, next),
                                    rows::identity(static_cast<std::uint64_t>(next)),
                                    domain::Bytes(200, 1)});
            }
        });
    }
    book.follow();
    const auto slices = [&] {  // until one begins with the first row again
        std::size_t count = 0;
        do {
            book.commit([&] { book.store->set_cursor("chain", ++count); });
        } while (!book.journal.changes.back().slice.after.empty());
        return count;
    };
    slices();
    book.follow();
    const std::size_t whole = slices();
    CHECK(whole > 3);
    book.follow();
    for (const std::string change :
         {"update payload set body = x'02' where id = 1",
          "update payload set body = x'02' where id = 1300",
          "update request set faults = 9 where id = 700", "delete from request where id = 1300",
          "insert into cursor (listener, position) values ('more', 1)"}) {
        CAPTURE(change);
        book.follower.reset();
        spoil(book.follower_options, change);
        CHECK(store::digest_of_rows(book.options) != store::digest_of_rows(book.follower_options));
        book.open_follower();
        slices();
        CHECK_THROWS_AS(book.follow(), store::Diverged);
        // A new one, from a snapshot.
        book.follower.reset();
        std::filesystem::remove_all(book.follower_options.directory);
        std::filesystem::create_directories(book.follower_options.directory);
        store::take_snapshot(book.options, store::database_path(book.follower_options), [] {});
        book.open_follower();
        book.check_equal();
    }
}

TEST_CASE("two files that came about in different ways are not mixed up") {
    // The columns of an old file stand in another order.
    Book book;
    book.follower.reset();
    std::filesystem::remove(store::database_path(book.follower_options));
    {
        std::ifstream schema(SCHEMAS "/schema-3.sql");
        SQLite::Database old(store::database_path(book.follower_options).string(),
                             SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
        old.exec({std::istreambuf_iterator<char>(schema), std::istreambuf_iterator<char>()});
        old.exec("pragma application_id = 0x50484f55; pragma user_version = 3");
    }
    store::join_book(book.follower_options, beginning());
    book.open_follower();
    book.commit([&] { book.store->set_cursor("chain", 1); });
    CHECK_THROWS_WITH_AS(book.follow(), doctest::Contains("the order of the columns"),
                         store::Diverged);
}

TEST_CASE("whatever write fails, nothing of an entry stays, and it is taken again") {
    struct Row {
        std::string label;
        FaultVfs::Fault fault;
        std::uint64_t cache_bytes;
    };
    const Row table[] = {
        {"a write", {FaultVfs::Operation::write, 0, SQLITE_IOERR_WRITE, false}, 1 << 20},
        {"a full disk", {FaultVfs::Operation::any, 0, SQLITE_FULL, true}, 1 << 20},
        {"in the middle", {FaultVfs::Operation::write, 0, SQLITE_FULL, true}, 4'096},
    };
    const Recording recording;
    for (const Row& row : table) {
        CAPTURE(row.label);
        std::uint64_t nth = 1;
        for (bool has_struck = true; has_struck; nth += 2) {
            CAPTURE(nth);
            FaultVfs vfs;
            const support::TempDirectory temporary;
            store::Options options = recording.blank(temporary);
            options.vfs = vfs.name();
            options.cache_bytes = row.cache_bytes;
            store::Follower follower(options);
            FaultVfs::Fault fault = row.fault;
            fault.nth = nth;
            vfs.fail(fault);
            for (const store::Entry& entry : recording.entries) {
                try {
                    follower.apply(entry);
                } catch (const store::StorageError&) {
                    CHECK(vfs.struck());
                    vfs.heal();
                    CHECK(follower.position().seq + 1 == entry.position.seq);
                    CHECK(Book::rows_of(options) == recording.rows_after[follower.position().seq]);
                    follower.apply(entry);
                }
            }
            has_struck = vfs.struck();
            CHECK(Book::rows_of(options) == recording.rows_after.back());
        }
        CHECK(nth > 20);
    }
}

TEST_CASE("of entries that are applied together those before one that does not fit stay") {
    const Recording recording;
    const std::size_t count = recording.entries.size();
    REQUIRE(count > 5);
    const domain::Bytes of_nobody = recorded(
        "create table setting (name text primary key, value text not null) without rowid;"
        "insert into setting values ('nobody', '1')",
        "update setting set value = '2'");
    for (std::size_t bad = 0; bad < count; ++bad) {
        CAPTURE(bad);
        {
            const support::TempDirectory temporary;
            const store::Options options = recording.blank(temporary);
            store::Follower follower(options);
            std::vector<store::Entry> entries = recording.entries;
            entries[bad].changes.pop_back();
            CHECK_THROWS_AS(follower.apply(entries), store::EntryRefused);
            CHECK(follower.position().seq == bad);
            CHECK(Book::rows_of(options) == recording.rows_after[bad]);
            follower.apply(std::span(recording.entries).subspan(bad));
            CHECK(Book::rows_of(options) == recording.rows_after.back());
        }
        {
            const support::TempDirectory temporary;
            const store::Options options = recording.blank(temporary);
            std::vector<store::Entry> entries = recording.entries;
            auto changes = store::decode_changes(entries[bad].changes).value();
            changes.patchset.insert(changes.patchset.end(), of_nobody.begin(), of_nobody.end());
            entries[bad].changes = store::encode_changes(changes);
            {
                store::Follower follower(options);
                CHECK_THROWS_AS(follower.apply(entries), store::Diverged);
                CHECK_THROWS_AS(follower.apply(entries), store::Diverged);
                CHECK(follower.position().seq == bad);
            }
            CHECK(store::Follower(options).diverged());
            spoil(options, "update journal_position set diverged = null");
            CHECK(Book::rows_of(options) == recording.rows_after[bad]);
        }
    }
}

TEST_CASE("a failing disk takes all entries of a transaction, and they may be applied again") {
    const Recording recording;
    std::size_t struck = 0;
    std::uint64_t nth = 1;
    for (bool has_struck = true; has_struck; ++nth) {
        CAPTURE(nth);
        FaultVfs vfs;
        const support::TempDirectory temporary;
        store::Options options = recording.blank(temporary);
        options.vfs = vfs.name();
        options.cache_bytes = 20'000;
        store::Follower follower(options);
        vfs.fail({FaultVfs::Operation::write, nth, SQLITE_IOERR_WRITE, false});
        std::span<const store::Entry> left(recording.entries);
        while (!left.empty()) {
            const auto together = left.first(std::min<std::size_t>(left.size(), 4));
            const std::uint64_t before = follower.position().seq;
            try {
                follower.apply(together);
            } catch (const store::StorageError&) {
                ++struck;
                vfs.heal();
                CHECK(follower.position().seq == before);
                CHECK(Book::rows_of(options) == recording.rows_after[before]);
                follower.apply(together);
            }
            left = left.subspan(together.size());
        }
        has_struck = vfs.struck();
        CHECK(Book::rows_of(options) == recording.rows_after.back());
    }
    CHECK(struck > 5);
}

TEST_CASE("a power cut takes the newest entries, which the journal gives again") {
    const Recording recording;
    std::uint64_t went_back = 0;
    std::uint64_t first = 0;
    for (const auto unsynced :
         {FaultVfs::Unsynced::lost, FaultVfs::Unsynced::torn, FaultVfs::Unsynced::kept}) {
        CAPTURE(static_cast<int>(unsynced));
        // Each operation is cut in one of the three ways.
        std::uint64_t nth = ++first;
        for (bool has_struck = true; has_struck; nth += 3) {
            CAPTURE(nth);
            FaultVfs vfs;
            const support::TempDirectory temporary;
            store::Options options = recording.blank(temporary);
            options.vfs = vfs.name();
            std::uint64_t synced = 0;
            std::uint64_t applied = 0;
            auto follower = std::make_unique<store::Follower>(options);
            vfs.cut_power_at(FaultVfs::Operation::any, nth, unsynced, nth);
            try {
                for (const store::Entry& entry : recording.entries) {
                    follower->apply(entry);
                    applied = entry.position.seq;
                    if (applied % 4 == 0) follower->checkpoint();
                    if (applied % 7 == 0) follower->truncate_wal();
                    const auto& position = follower->synced_position();
                    synced = position ? position->seq : 0;
                }
            } catch (const store::StorageError&) {
                CHECK_FALSE(vfs.has_power());
            }
            follower.reset();
            has_struck = vfs.struck();
            vfs.heal();
            vfs.restore_power();
            follower = std::make_unique<store::Follower>(options);
            const std::uint64_t found = follower->position().seq;
            CHECK(found >= synced);
            CHECK(found <= applied + 1);
            if (unsynced == FaultVfs::Unsynced::kept) CHECK(found >= applied);
            CHECK(Book::rows_of(options) == recording.rows_after[found]);
            went_back += found < applied ? 1 : 0;
            for (const store::Entry& entry : recording.entries) {
                if (entry.position.seq > found) follower->apply(entry);
            }
            CHECK(Book::rows_of(options) == recording.rows_after.back());
            CHECK(integrity(options) == "ok");
        }
        CHECK(nth > 20);
    }
    CHECK(went_back > 0);
}

TEST_CASE("what the owner wiped is gone from the follower's files once its log is cut") {
    const std::string secret = "the witness of a share that nobody may read any more";
    const auto is_there = [&](const store::Options& options) {
        for (const auto& file : std::filesystem::directory_iterator(options.directory)) {
            if (support::contains(bytes_of(file.path()), secret)) return true;
        }
        return false;
    };
    Book book;
    book.commit([&] { CHECK(book.store->round(rows::bytes32(1), rows::at(1'000)) == 1); });
    const store::Row share =
        book.add(rows::row(Kind::share, 1, rows::first_of(Kind::share), 1),
                 {reinterpret_cast<const std::uint8_t*>(secret.data()), secret.size()});
    book.follow();
    book.follower->truncate_wal();
    CHECK_FALSE(book.follower->wal_holds_wiped_data());
    CHECK(is_there(book.follower_options));
    book.end(share, domain::Status::queued, domain::Status::timed_out);
    book.follow();
    CHECK(book.follower->wal_holds_wiped_data());
    CHECK(book.follower->wal_bytes() > 0);
    book.follower->truncate_wal();
    CHECK_FALSE(book.follower->wal_holds_wiped_data());
    CHECK(book.follower->wal_bytes() == 0);
    CHECK_FALSE(is_there(book.follower_options));
    book.follower->require_in_place();
    std::filesystem::remove(store::database_path(book.follower_options));
    CHECK_THROWS_AS(book.follower->require_in_place(), store::StorageError);
}

TEST_CASE("a follower's directory is its own, and others only read") {
    Book book;
    CHECK_THROWS_WITH_AS(store::Follower{book.follower_options}, doctest::Contains("in use"),
                         store::OpenError);
    store::Reader reader(book.follower_options, 1);
    const store::Row row = book.add(rows::row(Kind::user_decrypt, 1), domain::Bytes(10, 1));
    CHECK_FALSE(reader.find(row.id));
    book.follow();
    CHECK(reader.find(row.id));
}

TEST_CASE("a joiner goes on from a snapshot, of which a follower or an owner is the same") {
    FilledStore filled;
    filled.close();
    store::join_book(filled.options, beginning());
    Journal journal;
    store::Store owner(filled.options, journal);
    {
        store::Store::Transaction transaction(owner);
        owner.set_cursor("chain", 1);
        transaction.commit();
    }
    owner.probe();
    const support::TempDirectory temporary;
    store::Options joiner;
    joiner.directory = temporary.path();
    const std::filesystem::path file = store::database_path(joiner);
    const std::string before = Book::rows_of(filled.options);
    std::uint64_t bytes = 0;
    {
        // In the middle of the owner's work.
        const store::Store::Transaction transaction(owner);
        owner.set_cursor("chain", 2);
        bytes = store::take_snapshot(filled.options, file, [] {});
    }
    CHECK(bytes == std::filesystem::file_size(file));
    CHECK((std::filesystem::status(file).permissions() & std::filesystem::perms::all) ==
          (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
    CHECK(Book::rows_of(joiner) == before);
    CHECK(store::digest_of_rows(joiner) == store::digest_of_rows(filled.options));
    CHECK_THROWS_AS(store::take_snapshot(filled.options, file, [] {}), store::OpenError);

    store::Follower follower(joiner);
    CHECK(follower.position() == journal.end());
    {
        store::Store::Transaction transaction(owner);
        owner.set_cursor("chain", 3);
        transaction.commit();
    }
    follower.apply(journal.entries.back());
    CHECK(Book::rows_of(joiner) == Book::rows_of(filled.options));
    CHECK(store::digest_of_rows(joiner) == store::digest_of_rows(filled.options));

    // Of a follower as well: the next joiner.
    const support::TempDirectory another;
    store::Options next;
    next.directory = another.path();
    store::take_snapshot(joiner, store::database_path(next), [] {});
    CHECK(contents(next) == contents(joiner));
}

TEST_CASE("a full disk gets the reserve that an owner has left") {
    FaultVfs vfs;
    Book book;
    book.add(rows::row(Kind::user_decrypt, 1), domain::Bytes(20'000, 1));
    book.follower.reset();
    book.follower_options.vfs = vfs.name();
    book.open_follower();
    const std::filesystem::path reserve = book.follower_options.directory / "posthouse.reserve";
    std::ofstream(reserve) << "kept free";
    vfs.limit_growth(0);
    CHECK_THROWS_AS(book.follow(), store::StorageError);
    CHECK_FALSE(std::filesystem::exists(reserve));
    vfs.release_growth();
    book.follow();
    book.check_equal();
}

TEST_CASE("a snapshot that is cut off leaves nothing behind") {
    Book book;
    for (std::int64_t number = 1; number <= 40; ++number) {
        book.add(rows::row(Kind::user_decrypt, number), domain::Bytes(20'000, 1));
    }
    const std::filesystem::path file = book.temporary.path() / "snapshot.db";
    CHECK_THROWS_WITH_AS(
        store::take_snapshot(book.options, file, [] { throw std::runtime_error("stopping"); }),
        "stopping", std::runtime_error);
    CHECK_FALSE(std::filesystem::exists(file));
    CHECK_FALSE(std::filesystem::exists(file.string() + ".unfinished"));
}

TEST_CASE("what a snapshot that is cut off has written is overwritten") {
    Book book;
    for (std::int64_t number = 1; number <= 40; ++number) {
        book.add(rows::row(Kind::user_decrypt, number), domain::Bytes(20'000, 1));
    }
    const std::filesystem::path file = book.temporary.path() / "snapshot.db";
    const std::filesystem::path link = book.temporary.path() / "link";
    const auto look = [&] {
        if (!std::filesystem::exists(link)) {
            std::filesystem::create_hard_link(file.string() + ".unfinished", link);
        }
        if (std::filesystem::file_size(link) > 500'000) throw std::runtime_error("stopping");
    };
    CHECK_THROWS_WITH_AS(store::take_snapshot(book.options, file, look), "stopping",
                         std::runtime_error);
    std::ifstream in(link, std::ios::binary);
    const std::string left{std::istreambuf_iterator<char>(in), {}};
    CHECK(left.size() > 500'000);
    CHECK(std::ranges::count(left, '\0') == std::ssize(left));
}
