#pragma once

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include <string>

namespace store {

// A statement for values of any type: SQLiteCpp hands values on only by type. Throws
// SQLite::Exception.
class RawStatement {
public:
    RawStatement(SQLite::Database& database, const std::string& sql) : database_(database) {
        check(sqlite3_prepare_v2(database.getHandle(), sql.c_str(), -1, &statement_, nullptr),
              SQLITE_OK);
    }
    ~RawStatement() { sqlite3_finalize(statement_); }
    RawStatement(const RawStatement&) = delete;
    RawStatement& operator=(const RawStatement&) = delete;

    [[nodiscard]] sqlite3_stmt* get() const { return statement_; }
    // False after the last row.
    [[nodiscard]] bool step() const {
        const int code = sqlite3_step(statement_);
        return code == SQLITE_ROW || !check(code, SQLITE_DONE);
    }

private:
    bool check(int code, int expected) const {
        if (code != expected) throw SQLite::Exception(database_.getHandle(), code);
        return true;
    }

    SQLite::Database& database_;
    sqlite3_stmt* statement_ = nullptr;
};

// A statement that was not read to its end would keep its snapshot.
class Rewind {
public:
    explicit Rewind(sqlite3_stmt* statement) : statement_(statement) {}
    ~Rewind() {
        sqlite3_reset(statement_);
        sqlite3_clear_bindings(statement_);
    }
    Rewind(const Rewind&) = delete;
    Rewind& operator=(const Rewind&) = delete;

private:
    sqlite3_stmt* statement_;
};

}  // namespace store
