#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/bytes.hpp"
#include "ports/progress.hpp"

namespace store {

// Copies tables from one database to another, row by row, with whatever columns they have. The
// target is empty at first, and one transaction is open on each of the two. One thread.
class TableCopy {
public:
    TableCopy(SQLite::Database& from, SQLite::Database& to, const ports::Progress& progress);

    // Which requests to leave out with all that belongs to them: SQL of the source that is true of
    // the row `asked` of `request`.
    void leave_out(std::string condition) { left_out_ = std::move(condition); }

    // Of which requests the secrets are left out, and nothing else.
    void leave_secrets_out(std::string condition) { bare_ = std::move(condition); }

    // In place of the secret bytes of a share that is not over: the body of a payload or a sealed
    // transaction. `label` names the place.
    using Secret = std::function<domain::Bytes(domain::ByteView stored, std::string_view label)>;
    void change_secrets(Secret secret) { secret_ = std::move(secret); }

    // All tables of the source but those named, then the indexes.
    void run(const std::vector<std::string>& but);

private:
    void copy(const std::string& table);
    [[nodiscard]] std::string rows_of(const std::string& table);

    SQLite::Database& from_;
    SQLite::Database& to_;
    const ports::Progress& progress_;
    std::string left_out_;
    std::string bare_;
    Secret secret_;
    std::uint64_t done_ = 0;
    std::uint64_t total_ = 0;
};

}  // namespace store
