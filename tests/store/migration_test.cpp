// A file of an older version becomes one of the newest, with everything that was in it.

#include <fstream>
#include <sstream>
#include <string>

#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>

#include "store/harness.hpp"

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

}  // namespace

TEST_CASE("a file of an older schema becomes one of the newest and keeps its rows") {
    for (const int version : {1, 2, 3, 4}) {
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
                "(zeroblob(32), 1, x'03', 5)");
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
        CHECK(migrated.open_alerts().empty());
        CHECK(migrated.unlogged_alerts().empty());
        CHECK(migrated.waiting_in_round(3, 10).size() == 1);
        CHECK(migrated.rounds_over(domain::from_unix_ms(5'000), 10).size() == 1);
    }
}
