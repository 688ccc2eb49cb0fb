#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <exception>
#include <functional>

namespace store {

// While it lives, statements of the connection that take long call `look` now and then.
class StatementWatch {
public:
    StatementWatch(SQLite::Database& database, std::function<void()> look);
    ~StatementWatch();
    StatementWatch(const StatementWatch&) = delete;
    StatementWatch& operator=(const StatementWatch&) = delete;

    // What `look` threw, which SQLite tells as an interrupted statement.
    void rethrow() const {
        if (thrown_) std::rethrow_exception(thrown_);
    }

private:
    SQLite::Database& database_;
    std::function<void()> look_;
    std::exception_ptr thrown_;
};

}  // namespace store
