#include "store/table_copy.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <utility>

#include "store/raw_statement.hpp"
#include "store/sql_text.hpp"
#include "store/statement.hpp"

namespace store {

namespace {

constexpr std::uint64_t rows_between_looks_back = 256;

// The column of a table that holds what is secret of a share; both tables have the request as `id`.
std::string_view secret_column_of(std::string_view table) {
    if (table == "payload") return "body";
    if (table == "attempt") return "sealed";
    return {};
}

// The column that says to which request a row belongs; empty: to none.
std::string owner_column_of(SQLite::Database& database, const std::string& table) {
    if (table == "request") return "id";
    Statement keys(database, "select \"from\" from pragma_foreign_key_list('" + table +
                                 "') where \"table\" = 'request'");
    std::string column;
    if (keys.with().next()) column = keys.text(0);
    keys.finish();
    return column;
}

domain::ByteView blob_at(sqlite3_stmt* row, int column) {
    const auto* data = static_cast<const std::uint8_t*>(sqlite3_column_blob(row, column));
    return {data, static_cast<std::size_t>(sqlite3_column_bytes(row, column))};
}

// Names the place of what is sealed: its table and its key.
std::string label_of(const std::string& table, sqlite3_stmt* row) {
    const std::string label = table + " " + std::to_string(sqlite3_column_int64(row, 0));
    return table == "attempt" ? label + " " + std::to_string(sqlite3_column_int64(row, 1)) : label;
}

std::vector<std::string> texts(SQLite::Database& database, const std::string& select) {
    Statement statement(database, select);
    std::vector<std::string> found;
    for (statement.with(); statement.next();) found.emplace_back(statement.text(0));
    return found;
}

}  // namespace

TableCopy::TableCopy(SQLite::Database& from, SQLite::Database& to, const ports::Progress& progress)
    : from_(from), to_(to), progress_(progress) {}

void TableCopy::run(const std::vector<std::string>& but) {
    std::vector<std::string> tables =
        texts(from_,
              "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' "
              "order by rowid");
    std::erase_if(tables, [&but](const std::string& table) {
        return std::ranges::find(but, table) != but.end();
    });
    for (const std::string& table : tables) {
        Statement count(from_, "select count(*) from \"" + table + "\"");
        if (count.with().next()) total_ += static_cast<std::uint64_t>(count.integer(0));
        count.finish();
    }
    for (const std::string& table : tables) {
        to_.exec(texts(from_, "select sql from sqlite_schema where type = 'table' and name = '" +
                                  table + "'")
                     .at(0));
        copy(table);
    }
    for (const std::string& sql :
         texts(from_,
               "select sql from sqlite_schema where type = 'index' and sql is not null "
               "order by rowid")) {
        progress_({"rows", done_, total_});
        to_.exec(sql);
    }
}

std::string TableCopy::rows_of(const std::string& table) {
    const std::string owner = owner_column_of(from_, table);
    std::string condition = left_out_;
    if (!bare_.empty() && !secret_column_of(table).empty()) condition = bare_;
    if (condition.empty() || owner.empty()) return "\"" + table + "\"";
    return "\"" + table +
           "\" where not exists (select 1 from request as asked where asked.id = \"" + table +
           "\".\"" + owner + "\" and " + condition + ")";
}

void TableCopy::copy(const std::string& table) {
    std::vector<std::string> names =
        texts(from_, "select name from pragma_table_info('" + table + "') order by cid");
    const auto count = static_cast<int>(names.size());
    const auto secret = std::ranges::find(names, secret_column_of(table));
    const bool has_secret = secret != names.end();
    const auto secret_at = static_cast<int>(secret - names.begin());
    const std::string columns = name_list(names);
    const std::string is_share =
        has_secret ? "(select kind = 'share' from request where request.id = \"" + table + "\".id)"
                   : "0";
    const RawStatement rows(from_,
                            "select " + columns + ", " + is_share + " from " + rows_of(table));
    const RawStatement insert(to_, "insert into \"" + table + "\" (" + columns + ") values (" +
                                       mark_list(names.size()) + ")");
    while (rows.step()) {
        if (done_++ % rows_between_looks_back == 0) progress_({"rows", done_, total_});
        for (int column = 0; column < count; ++column) {
            sqlite3_bind_value(insert.get(), column + 1, sqlite3_column_value(rows.get(), column));
        }
        domain::Bytes changed;
        if (secret_ && has_secret && sqlite3_column_int(rows.get(), count) != 0) {
            changed = secret_(blob_at(rows.get(), secret_at), label_of(table, rows.get()));
            sqlite3_bind_blob(insert.get(), secret_at + 1, changed.data(),
                              static_cast<int>(changed.size()), SQLITE_STATIC);
        }
        static_cast<void>(insert.step());
        sqlite3_reset(insert.get());
    }
}

}  // namespace store
