#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace store {

// Tables of one file alone: their changes are in no entry, their rows in no digest.
inline constexpr std::array<std::string_view, 2> local_tables{"journal_position", "probe"};

struct JournaledTable {
    std::string name;
    std::vector<std::string> columns;  // in the order of the file, which a migration may change
    std::vector<int> key;              // places of the columns of the primary key, in its order
};

[[nodiscard]] std::vector<std::string> key_names(const JournaledTable& table);

// Every table but the local ones, by name. Throws OpenError for one without a primary key: no
// change of it would ever be recorded.
[[nodiscard]] std::vector<JournaledTable> journaled_tables(SQLite::Database& database);

}  // namespace store
