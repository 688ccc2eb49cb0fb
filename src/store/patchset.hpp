#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <optional>
#include <string>
#include <vector>

#include "domain/bytes.hpp"
#include "store/journaled_tables.hpp"

namespace store {

// What is in a patchset that was read to its end.
struct PatchsetContents {
    std::optional<std::string> problem;  // why these tables can not take it
    bool deletes = false;
};

// Every table, its number of columns and its key must be known: SQLite passes over what is not. Nor
// does SQLite 3.40 look for the end of the bytes everywhere; what has no problem here is safe with
// it.
[[nodiscard]] PatchsetContents inspect(domain::ByteView patchset,
                                       const std::vector<JournaledTable>& tables);

// Inside a transaction, which is to be rolled back when it fails. Nothing: all of it was applied;
// otherwise which row stood in the way. Throws SQLite::Exception.
[[nodiscard]] std::optional<std::string> apply(SQLite::Database& database,
                                               const domain::Bytes& patchset);

}  // namespace store
