#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "domain/bytes.hpp"
#include "store/journaled_tables.hpp"

namespace store {

// In the format of patchsets: what a table begins with, and what stands for a column that is not
// changed.
inline constexpr std::uint8_t patchset_table = 'P';  // of a changeset it is a T
inline constexpr std::uint8_t undefined_value = 0;

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

// Applies patchsets to one file, with statements that stay prepared: SQLite's own way prepares them
// for each patchset anew, and with it every other statement of the connection.
class PatchsetApplier {
public:
    // `tables` must outlive it, and has at most 64 columns each.
    PatchsetApplier(SQLite::Database& database, const std::vector<JournaledTable>& tables);
    ~PatchsetApplier();
    PatchsetApplier(const PatchsetApplier&) = delete;
    PatchsetApplier& operator=(const PatchsetApplier&) = delete;

    // Inside a transaction, which is to be rolled back when it fails; only what inspect() found no
    // problem with. Nothing: all of it was applied; otherwise which row stood in the way. Throws
    // SQLite::Exception.
    [[nodiscard]] std::optional<std::string> apply(domain::ByteView patchset);

private:
    struct Table;
    class Change;

    SQLite::Database& database_;
    std::vector<std::unique_ptr<Table>> tables_;
};

}  // namespace store
