#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "domain/bytes.hpp"
#include "store/journaled_tables.hpp"
#include "store/raw_statement.hpp"

namespace store {

// Reads slices of the rows of all journaled tables. What it reads depends on the rows and the order
// of the columns alone, not on how the file came about. Throws StorageError, and the constructor
// SQLite::Exception.
class Slices {
public:
    // A slice ends with the row that reaches one of them.
    static constexpr std::size_t rows_max = 64;
    static constexpr std::size_t bytes_max = std::size_t{8} << 10U;

    Slices(SQLite::Database& database, const std::vector<JournaledTable>& tables);
    ~Slices();
    Slices(const Slices&) = delete;
    Slices& operator=(const Slices&) = delete;

    struct Read {
        domain::Bytes32 digest{};
        domain::Bytes last;  // the row that ends it; empty: the slice goes to the end of all
    };
    // The slice behind the row `after`, which need not be there any more; empty: the first one.
    // Nothing when `after` says no row of these tables.
    [[nodiscard]] std::optional<Read> read(domain::ByteView after);
    // Of all slices; as of one moment only inside of a transaction.
    [[nodiscard]] domain::Bytes32 digest_of_all();

private:
    struct Table;

    [[nodiscard]] std::optional<Read> read_behind(domain::ByteView after);
    // How many; stops when the slice is full, and then remembers the last one.
    [[nodiscard]] std::size_t append_rows(const Table& table, const RawStatement& rows,
                                          std::size_t limit);

    std::vector<std::unique_ptr<Table>> tables_;
    domain::Bytes32 layout_{};  // of the names of tables and columns
    domain::Bytes buffer_;      // what is hashed
    std::size_t full_at_ = 0;   // bytes in it
    domain::Bytes last_;
};

}  // namespace store
