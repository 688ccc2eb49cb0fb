// What is recorded of a transaction is what SQLite's own sessions record of it.

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>
#include <sqlite3.h>

#include "store/change_recorder.hpp"
#include "store/errors.hpp"
#include "store/journaled_tables.hpp"
#include "store/patchset.hpp"

namespace {

constexpr const char* schema =
    "create table one (id integer primary key, a, b, c);"
    "create table pair (x text, y integer, v blob, w real, primary key (y, x)) without rowid;"
    "create table word (w text primary key, n integer not null default 0) strict;"
    "insert into one values (1, 'text', x'00ff', null), (2, 2.5, -7, 'b'), (3, null, '', x'');"
    "insert into pair values ('p', 1, x'01', 1.5), ('q', 1, null, 2), ('p', 2, x'', null);"
    "insert into word values ('', 0), ('w', 9223372036854775807);";

struct Database {
    Database() { opened.exec(schema); }

    [[nodiscard]] std::string rows() {
        std::string text;
        for (const char* const sql :
             {"select quote(id) || quote(a) || quote(b) || quote(c) from one order by id",
              "select quote(x) || quote(y) || quote(v) || quote(w) from pair order by y, x",
              "select quote(w) || quote(n) from word order by w"}) {
            SQLite::Statement rows(opened, sql);
            while (rows.executeStep()) text += rows.getColumn(0).getString() + "\n";
        }
        return text;
    }

    SQLite::Database opened{":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
};

struct Recorded {
    domain::Bytes patchset;
    std::uint64_t counted = 0;
    std::string rows;
};

Recorded recorded(const std::string& changes) {
    Database database;
    const auto tables = store::journaled_tables(database.opened);
    store::ChangeRecorder recorder(database.opened, tables);
    recorder.begin();
    database.opened.exec("begin; " + changes + "; commit");
    return {recorder.patchset(), recorder.changed_bytes(), database.rows()};
}

domain::Bytes of_session(const std::string& changes) {
    Database database;
    sqlite3_session* started = nullptr;
    REQUIRE(sqlite3session_create(database.opened.getHandle(), "main", &started) == SQLITE_OK);
    const std::unique_ptr<sqlite3_session, decltype(&sqlite3session_delete)> session(
        started, &sqlite3session_delete);
    REQUIRE(sqlite3session_attach(started, nullptr) == SQLITE_OK);
    database.opened.exec("begin; " + changes + "; commit");
    int size = 0;
    void* bytes = nullptr;
    REQUIRE(sqlite3session_patchset(started, &size, &bytes) == SQLITE_OK);
    const std::unique_ptr<void, decltype(&sqlite3_free)> owned(bytes, &sqlite3_free);
    const auto* const begin = static_cast<const std::uint8_t*>(bytes);
    return {begin, begin + size};
}

// The rows it leads to from the beginning.
std::string applied(const domain::Bytes& patchset) {
    Database database;
    const auto tables = store::journaled_tables(database.opened);
    if (!patchset.empty()) {
        REQUIRE_FALSE(store::inspect(patchset, tables).problem);
        REQUIRE_FALSE(store::PatchsetApplier(database.opened, tables).apply(patchset));
    }
    return database.rows();
}

const std::string& one_of(std::mt19937& random, const std::vector<std::string>& words) {
    return words[random() % words.size()];
}

std::string random_change(std::mt19937& random) {
    const std::vector<std::string> values{
        "null", "0", "-1", "1.5", "'v'", "''", "x''", "zeroblob(200)", "9223372036854775807"};
    const std::vector<std::string> ids{"1", "2", "3", "4", "5", "-6"};
    const std::vector<std::string> words{"''", "'w'", "'p'", "'q'"};
    const auto value = [&] { return one_of(random, values); };
    const std::string& id = one_of(random, ids);
    const std::string& word = one_of(random, words);
    switch (random() % 8) {
        case 0:
            return "insert into one values (" + id + ", " + value() + ", " + value() + ", " +
                   value() + ") on conflict do update set b = " + value();
        case 1:
            return "delete from one where id = " + id;
        case 2:
            return "update one set a = " + value() + ", c = " + value() + " where id >= " + id;
        case 3:
            return "insert into pair values (" + word + ", " + id + ", " + value() + ", " +
                   value() + ") on conflict do nothing";
        case 4:
            return "delete from pair where x = " + word;
        case 5:
            return "update pair set w = " + value() + " where y < " + id;
        case 6:
            return "insert into word values (" + word + ", " + id +
                   ") on conflict do update set n = n / 2";
        default:
            return "delete from word where w = " + word;
    }
}

}  // namespace

TEST_CASE("of one row the same bytes are recorded as by a session") {
    for (const char* const changes : {
             "select 1",
             "insert into one values (9, 1, 2.5, 'three')",
             "insert into one values (-9, x'00', null, '')",
             "insert into one values (9, zeroblob(127), zeroblob(128), zeroblob(20000))",
             "insert into pair values ('new', 7, x'', -0.5)",
             "insert into word (w) values ('a''b')",
             "update one set a = 'other' where id = 1",
             "update one set a = 'text' where id = 1",
             "update one set a = null, b = null, c = 1 where id = 1",
             "update one set b = -7.0 where id = 2",
             "update one set a = 'twice' where id = 1; update one set b = 5 where id = 1",
             "update one set a = 'there' where id = 1; update one set a = 'text' where id = 1",
             "update pair set v = x'02', w = 3 where x = 'p' and y = 1",
             "update word set n = n - 1 where w = 'w'",
             "delete from one where id = 2",
             "delete from pair where x = 'q'",
             "delete from word where w = ''",
             "update one set a = 'first' where id = 1; delete from one where id = 1",
             "insert into one values (9, 1, 2, 3); update one set c = 4 where id = 9",
             "insert into one values (9, 1, 2, 3); delete from one where id = 9",
             "delete from one where id = 2; insert into one values (2, 2.5, -7, 'c')",
             "delete from one where id = 2; insert into one values (2, 2.5, -7, 'b')",
             "insert into word values ('w', 1) on conflict do update set n = 2",
             "insert into word values ('w', 1) on conflict do nothing",
         }) {
        CAPTURE(changes);
        const Recorded ours = recorded(changes);
        CHECK(ours.patchset == of_session(changes));
        CHECK(ours.counted >= ours.patchset.size());
        CHECK(ours.counted <= ours.patchset.size() + 20);
        CHECK(applied(ours.patchset) == ours.rows);
    }
}

TEST_CASE("a row whose key changes goes, and another one comes") {
    for (const char* const changes :
         {"update one set id = 8, a = 'moved' where id = 1",
          "update pair set y = 9 where x = 'p' and y = 1",
          "update one set id = 8 where id = 1; insert into one values (1, 1, 1, 1)",
          "update one set id = 8 where id = 1; update one set id = 1 where id = 8"}) {
        CAPTURE(changes);
        const Recorded ours = recorded(changes);
        CHECK(applied(ours.patchset) == ours.rows);
    }
}

TEST_CASE("whatever is changed, what was recorded leads to the same rows") {
    for (std::uint32_t seed = 1; seed <= 300; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        std::string changes = random_change(random);
        for (auto more = random() % 12; more > 0; --more) changes += "; " + random_change(random);
        CAPTURE(changes);
        const Recorded ours = recorded(changes);
        CHECK(applied(ours.patchset) == ours.rows);
        CHECK(ours.patchset.size() == of_session(changes).size());
        CHECK(ours.counted >= ours.patchset.size());
    }
}

TEST_CASE("each transaction is recorded alone, and nothing outside of them") {
    Database database;
    const auto tables = store::journaled_tables(database.opened);
    store::ChangeRecorder recorder(database.opened, tables);
    database.opened.exec("delete from one where id = 1");
    CHECK(recorder.changed_bytes() == 0);
    recorder.begin();
    database.opened.exec("delete from one where id = 2");
    const domain::Bytes first = recorder.patchset();
    CHECK_FALSE(first.empty());
    recorder.end();
    database.opened.exec("delete from one where id = 3");
    CHECK(recorder.patchset() == first);
    recorder.begin();
    CHECK(recorder.patchset().empty());
    CHECK(recorder.changed_bytes() == 0);
}
