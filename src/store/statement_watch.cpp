#include "store/statement_watch.hpp"

#include <sqlite3.h>

#include <utility>

namespace store {

namespace {

constexpr int instructions_between_looks = 100'000;

}  // namespace

StatementWatch::StatementWatch(SQLite::Database& database, std::function<void()> look)
    : database_(database), look_(std::move(look)) {
    sqlite3_progress_handler(
        database_.getHandle(), instructions_between_looks,
        [](void* self) {
            auto& watch = *static_cast<StatementWatch*>(self);
            try {
                watch.look_();
                return 0;
            } catch (...) {
                watch.thrown_ = std::current_exception();
                return 1;
            }
        },
        this);
}

StatementWatch::~StatementWatch() {
    sqlite3_progress_handler(database_.getHandle(), 0, nullptr, nullptr);
}

}  // namespace store
