// A file of an older version becomes one of the newest, with everything that was in it.

#include <array>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>

#include "store/harness.hpp"
#include "store/journal_position.hpp"

namespace {

std::string text_of(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

// Every table and index with its columns, in an order of its own.
std::string shape_of(const store::Options& options) {
    SQLite::Database database(store::database_path(options).string());
    SQLite::Statement rows(
        database,
        "select m.type, m.name, c.name, c.type, c.\"notnull\", c.dflt_value, "
        "c.pk from sqlite_schema m, pragma_table_info(m.name) c order by 1, 2, 3");
    std::string shape;
    while (rows.executeStep()) {
        for (int column = 0; column < rows.getColumnCount(); ++column) {
            shape += rows.getColumn(column).getString() + " ";
        }
        shape += "\n";
    }
    return shape;
}

// How many tables SQLite makes for itself with every request that is inserted: each costs more than
// the insert.
int tables_made_to_insert(SQLite::Database& database) {
    SQLite::Statement steps(database,
                            "explain insert into request (id, random, kind, status, lane, wake_ms, "
                            "status_ms, identity_key) values (?, ?, ?, ?, ?, ?, ?, ?)");
    int count = 0;
    while (steps.executeStep()) {
        if (steps.getColumn(1).getString() == "OpenEphemeral") ++count;
    }
    return count;
}

// What no request may be, each for one reason. The file has one of id 7, which is in work.
constexpr std::array broken_rules{
    "kind = 'shares'",
    "kind = ''",
    "status = 'queued '",
    "status = 'included'",
    "status = 'completed'",
    "status = 'timed_out', reason = 'x'",
    "lane = -1",
    "lane = 3",
    "lane = 7",
    "lane = 8",
    "lane = 12, status = 'completed'",
    "lane = 8, status = 'failure'",
    "reason = 'x'",
    "round = 3",
};

void check_rules(SQLite::Database& database) {
    for (const char* const change : broken_rules) {
        CAPTURE(change);
        try {
            database.exec(std::string("update request set ") + change + " where id = 7");
            FAIL_CHECK("it was taken");
        } catch (const SQLite::Exception& error) {
            CHECK(std::string(error.what()).starts_with("CHECK constraint failed"));
        }
    }
    for (const char* const kind : {"input_proof", "public_decrypt", "user_decrypt",
                                   "delegated_user_decrypt", "unified_user_decrypt", "share"}) {
        database.exec(std::string("update request set kind = '") + kind + "' where id = 7");
    }
    for (const char* const status : {"queued", "tx_in_flight", "receipt_received", "processing"}) {
        for (const int lane : {0, 2, 1}) {
            database.exec(std::string("update request set status = '") + status +
                          "', lane = " + std::to_string(lane) + " where id = 7");
        }
    }
    for (const int lane : {8, 9, 10, 11}) {
        database.exec("update request set status = 'completed', lane = " + std::to_string(lane) +
                      " where id = 7");
    }
    for (const char* const status : {"timed_out", "failure"}) {
        database.exec(std::string("update request set reason = 'x', status = '") + status +
                      "' where id = 7");
    }
}

// Every row of these tables as text, with the columns each had then.
using Columns = std::map<std::string, std::string>;

Columns columns_of(SQLite::Database& database) {
    Columns columns;
    SQLite::Statement rows(database,
                           "select m.name, group_concat('quote(' || c.name || ')', '||'',''||') "
                           "from sqlite_schema m, pragma_table_info(m.name) c "
                           "where m.type = 'table' group by 1");
    while (rows.executeStep()) columns[rows.getColumn(0)] = rows.getColumn(1).getString();
    return columns;
}

std::string rows_of(SQLite::Database& database, const Columns& columns) {
    std::string text;
    for (const auto& [table, list] : columns) {
        SQLite::Statement rows(database, "select " + list + " from " + table + " order by 1");
        while (rows.executeStep()) text += table + " " + rows.getColumn(0).getString() + "\n";
    }
    return text;
}

// Input proofs are never queued.
int first_status(const std::string& kind) {
    return kind == "input_proof" ? 1 : 0;
}

// A request of this kind in every status, with what belongs to it.
void add_rows(SQLite::Database& database, const std::string& kind, int ended_lane, int first) {
    const std::string statuses[]{"queued",    "processing", "tx_in_flight", "receipt_received",
                                 "completed", "timed_out",  "failure"};
    for (int i = first_status(kind); i < 7; ++i) {
        const std::string id = std::to_string(first + i);
        const std::string& status = statuses[i];
        const bool is_ended = i >= 4;
        const bool was_sealed = i >= 2;
        database.exec(
            "insert into request (id, random, kind, status, lane, wake_ms, status_ms, deadline_ms, "
            "claims, attempts, faults, dedup, identity_key, reference, reason, detail, selector) "
            "values (" +
            id + ", 9" + id + ", '" + kind + "', '" + status + "', " +
            std::to_string(is_ended ? ended_lane : 2) + ", 5, 6, 7, 1, 2, 3, " + id +
            ", zeroblob(32), " + (i == 3 || i == 4 ? "randomblob(32)" : "null") +
            (i >= 5 ? ", 'send_failed', 'why', 8)" : ", null, null, null)"));
        database.exec("insert into payload (id, body) values (" + id + ", randomblob(20))");
        if (was_sealed) {
            database.exec(
                "insert into attempt (id, ordinal, nonce, hash, sealed, sealed_ms) select " + id +
                ", o, " + id +
                ", randomblob(32), randomblob(9), 4 from (select 1 o union select 2)");
        }
        if (status == "completed") {
            database.exec("insert into result (id, body) values (" + id + ", randomblob(7))");
        }
    }
}

}  // namespace

TEST_CASE("rows of every kind and status are after a migration what they were") {
    for (const int version : {1, 2, 3, 4, 5, 6}) {
        CAPTURE(version);
        const support::TempDirectory temporary;
        store::Options options;
        options.directory = temporary.path();
        const auto path = store::database_path(options).string();
        Columns columns;
        std::string before;
        {
            SQLite::Database old(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
            old.exec(text_of(SCHEMAS "/schema-" + std::to_string(version) + ".sql"));
            old.exec("pragma application_id = 0x50484f55; pragma user_version = " +
                     std::to_string(version));
            add_rows(old, "input_proof", 8, 100);
            add_rows(old, "public_decrypt", 9, 200);
            add_rows(old, "user_decrypt", 10, 300);
            add_rows(old, "delegated_user_decrypt", 10, 400);
            add_rows(old, "unified_user_decrypt", 10, 500);
            old.exec(
                "insert into answer (reference, slot, body, arrived_ms) select reference, 1, "
                "x'03', 5 from request where status = 'receipt_received'");
            old.exec("insert into cursor (listener, position) values ('gateway', 77)");
            columns = columns_of(old);
            before = rows_of(old, columns);
        }
        // It is too old for a book, and can be told so before it is migrated.
        CHECK_FALSE(store::stored_position(options));
        {
            store::Store migrated(options);
            for (const int first : {100, 200, 300, 400, 500}) {
                for (int i = first == 100 ? 1 : 0; i < 7; ++i) {
                    const auto row = migrated.load(first + i);
                    REQUIRE(row);
                    CHECK(static_cast<int>(row->status) == i);
                    CHECK(migrated.attempts(first + i).size() == (i >= 2 ? 2 : 0));
                }
            }
            // Nothing of it is looked for: it is final.
            CHECK(migrated.inclusions().empty());
            CHECK(migrated.nonces_included().empty());
            // In flight, one of each kind.
            CHECK(migrated.attempts_in_work().size() == 10);
        }
        SQLite::Database database(path);
        CHECK(rows_of(database, columns) == before);
        CHECK(integrity(options) == "ok");
    }
}

TEST_CASE("a file of an older schema becomes one of the newest and keeps its rows") {
    for (const int version : {1, 2, 3, 4, 5, 6}) {
        CAPTURE(version);
        const support::TempDirectory temporary;
        store::Options options;
        options.directory = temporary.path();
        {
            SQLite::Database old(store::database_path(options).string(),
                                 SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
            old.exec(text_of(SCHEMAS "/schema-" + std::to_string(version) + ".sql"));
            old.exec("pragma application_id = 0x50484f55; pragma user_version = " +
                     std::to_string(version));
            old.exec(
                "insert into round (id, round_id, vote_end_ms, total, closed) values "
                "(3, zeroblob(32), 5000, 1, 0);"
                "insert into request (id, random, kind, status, lane, wake_ms, status_ms, "
                "identity_key, round) values "
                "(7, 9, 'input_proof', 'processing', 1, 5, 5, zeroblob(32), null), "
                "(8, 9, 'share', 'queued', 0, 5, 5, zeroblob(32), 3);"
                "insert into payload (id, body) values (7, x'0102');"
                "insert into answer (reference, slot, body, arrived_ms) values "
                "(zeroblob(32), 1, x'03', 5);"
                "insert into cursor (listener, position) values ('probe', 3)");
        }
        Harness fresh;
        store::Store migrated(options);
        CHECK(shape_of(options) == shape_of(fresh.options));
        CHECK(integrity(options) == "ok");

        store::Store::Transaction transaction(migrated);
        const auto row = migrated.load(7);
        REQUIRE(row);
        CHECK(row->id.random == 9);
        CHECK(row->client == 0);
        CHECK_FALSE(row->schedule.unreached_since);
        CHECK_FALSE(row->schedule.refused_since);
        CHECK(migrated.payload(7) == domain::Bytes{1, 2});
        CHECK(migrated.inclusions().empty());  // what was there is final
        REQUIRE(migrated.held_answers({}).size() == 1);
        CHECK_FALSE(migrated.held_answers({})[0].block);
        CHECK(migrated.settings().empty());
        CHECK(migrated.holds().empty());
        CHECK(migrated.marks().empty());
        CHECK(migrated.cursors().empty());  // probes have a table of their own now
        CHECK(migrated.open_alerts().empty());
        CHECK(migrated.unlogged_alerts().empty());
        CHECK(migrated.waiting_in_round(3, 10).size() == 1);
        CHECK(migrated.rounds_over(domain::from_unix_ms(5'000), 10).size() == 1);
    }
}

TEST_CASE("the rules for requests are the same in old files and new ones, and cost no table each") {
    for (const int version : {1, 2, 3, 4, 5, 6, 7}) {
        CAPTURE(version);
        const support::TempDirectory temporary;
        store::Options options;
        options.directory = temporary.path();
        const std::string path = store::database_path(options).string();
        if (version < 7) {
            SQLite::Database old(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
            old.exec(text_of(SCHEMAS "/schema-" + std::to_string(version) + ".sql"));
            old.exec("pragma application_id = 0x50484f55; pragma user_version = " +
                     std::to_string(version));
        }
        { const store::Store migrated(options); }
        SQLite::Database database(path, SQLite::OPEN_READWRITE);
        database.exec(
            "insert into round (id, round_id, vote_end_ms) values (3, zeroblob(32), 5000);"
            "insert into request (id, random, kind, status, lane, wake_ms, status_ms, "
            "identity_key) "
            "values (7, 9, 'input_proof', 'processing', 1, 5, 5, zeroblob(32))");
        CHECK(tables_made_to_insert(database) == 0);
        check_rules(database);
    }
}
