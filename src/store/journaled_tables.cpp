#include "store/journaled_tables.hpp"

#include <algorithm>

#include "store/errors.hpp"
#include "store/statement.hpp"

namespace store {

namespace {

JournaledTable described(SQLite::Database& database, const std::string& name) {
    JournaledTable table{name, {}, {}};
    Statement columns(database, "select name, pk from pragma_table_info(?) order by cid");
    for (columns.with(name); columns.next();) {
        const auto place = static_cast<std::size_t>(columns.integer(1));  // from 1; 0: not in it
        if (place > table.key.size()) table.key.resize(place);
        if (place > 0) table.key[place - 1] = static_cast<int>(table.columns.size());
        table.columns.emplace_back(columns.text(0));
    }
    if (table.key.empty()) throw OpenError("the table " + name + " has no primary key");
    return table;
}

}  // namespace

std::vector<std::string> key_names(const JournaledTable& table) {
    std::vector<std::string> names;
    for (const int column : table.key) {
        names.push_back(table.columns[static_cast<std::size_t>(column)]);
    }
    return names;
}

std::vector<JournaledTable> journaled_tables(SQLite::Database& database) {
    std::vector<JournaledTable> tables;
    Statement names(database,
                    "select name from sqlite_schema where type = 'table' and "
                    "name not like 'sqlite\\_%' escape '\\' order by name");
    for (names.with(); names.next();) {
        const std::string name(names.text(0));
        if (std::ranges::find(local_tables, name) == local_tables.end()) {
            tables.push_back(described(database, name));
        }
    }
    return tables;
}

}  // namespace store
