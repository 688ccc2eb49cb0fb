// What a schema must keep to, so that SQLite's session extension records all of it and a follower
// can apply it in any order.

#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>
#include <sqlite3.h>

#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "store/filled_store.hpp"

namespace {

using Updated = std::set<std::pair<std::string, std::string>>;  // table and column

// Sees every statement that connections of this thread prepare while it lives.
class StatementSpy {
public:
    StatementSpy() {
        current = this;
        sqlite3_auto_extension(reinterpret_cast<void (*)()>(&watch));
    }
    ~StatementSpy() {
        sqlite3_cancel_auto_extension(reinterpret_cast<void (*)()>(&watch));
        current = nullptr;
    }
    StatementSpy(const StatementSpy&) = delete;
    StatementSpy& operator=(const StatementSpy&) = delete;

    // The text of those that are prepared now.
    [[nodiscard]] static std::vector<std::string> prepared(sqlite3* handle) {
        std::vector<std::string> texts;
        for (sqlite3_stmt* each = sqlite3_next_stmt(handle, nullptr); each != nullptr;
             each = sqlite3_next_stmt(handle, each)) {
            texts.emplace_back(sqlite3_sql(each));
        }
        return texts;
    }

    Updated updated;
    sqlite3* handle = nullptr;

private:
    static int watch(sqlite3* handle, char** /*error*/,
                     const struct sqlite3_api_routines* /*api*/) {
        current->handle = handle;
        return sqlite3_set_authorizer(handle, &look, current);
    }

    static int look(void* spy, int action, const char* table, const char* column,
                    const char* /*database*/, const char* /*trigger*/) {
        if (action == SQLITE_UPDATE)
            static_cast<StatementSpy*>(spy)->updated.emplace(table, column);
        return SQLITE_OK;
    }

    static inline StatementSpy* current = nullptr;
};

std::vector<std::string> listed(const store::Options& options, const std::string& select) {
    SQLite::Database database(store::database_path(options).string());
    SQLite::Statement statement(database, select);
    std::vector<std::string> found;
    while (statement.executeStep()) found.push_back(statement.getColumn(0).getString());
    return found;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("every table has a primary key, and nothing but statements changes a row") {
    Harness harness;
    const auto& options = harness.options;
    CHECK(listed(options, "select name from sqlite_schema where type = 'table'").size() > 15);
    CHECK(listed(options, "select name from sqlite_schema where type not in ('table', 'index')") ==
          Names{});
    CHECK(listed(options,
                 "select name from sqlite_schema as s where type = 'table' and not exists "
                 "(select 1 from pragma_table_info(s.name) where pk > 0)") == Names{});
    // A key may not be null: SQLite records no change of such a row.
    CHECK(listed(options,
                 "select s.name from sqlite_schema as s, pragma_table_info(s.name) as c where "
                 "s.type = 'table' and c.pk > 0 and c.\"notnull\" = 0 and c.type <> 'INTEGER'") ==
          Names{});
    CHECK(listed(options,
                 "select s.name from sqlite_schema as s, pragma_table_xinfo(s.name) as c "
                 "where s.type = 'table' and c.hidden > 0") == Names{});
    // Cascades would change rows that nobody recorded in their order.
    CHECK(listed(options,
                 "select s.name from sqlite_schema as s, pragma_foreign_key_list(s.name) "
                 "as f where s.type = 'table' and (f.on_update <> 'NO ACTION' or "
                 "f.on_delete <> 'NO ACTION')") == Names{});
}

TEST_CASE("no statement changes a column that is unique or of a key") {
    StatementSpy spy;
    FilledStore filled;  // and with it everything that a store prepares
    CHECK(spy.updated.size() > 40);
    CHECK(spy.updated.contains({"request", "status"}));
    CHECK(spy.updated.contains({"answer", "body"}));
    SQLite::Database database(store::database_path(filled.options).string());
    SQLite::Statement unique(
        database,
        "select s.name, c.name from sqlite_schema as s, pragma_index_list(s.name) as i, "
        "pragma_index_info(i.name) as c where s.type = 'table' and i.\"unique\" = 1 "
        "union select s.name, c.name from sqlite_schema as s, pragma_table_info(s.name) as c "
        "where s.type = 'table' and c.pk > 0");
    std::size_t columns = 0;
    while (unique.executeStep()) {
        ++columns;
        const std::string table = unique.getColumn(0).getString();
        const std::string column = unique.getColumn(1).getString();
        CAPTURE(table);
        CAPTURE(column);
        CHECK_FALSE(spy.updated.contains({table, column}));
    }
    CHECK(columns > 20);
}

TEST_CASE("no statement that is prepared deletes all rows at once: that is recorded as nothing") {
    StatementSpy spy;
    Harness harness;
    const std::regex unconditional("delete from [a-z_]+ *");
    std::size_t deletes = 0;
    for (const std::string& text : StatementSpy::prepared(spy.handle)) {
        CAPTURE(text);
        deletes += text.starts_with("delete") ? 1 : 0;
        CHECK_FALSE(std::regex_match(text, unconditional));
    }
    CHECK(deletes > 10);
}
