#include "bench/inspection.hpp"

#include <sqlite3.h>

#include <stdexcept>
#include <string>

namespace bench {

namespace {

constexpr int busy_timeout_ms = 5'000;

SQLite::Database open(const std::filesystem::path& file) {
    SQLite::Database database(file.string(), SQLite::OPEN_READWRITE, busy_timeout_ms);
    database.exec("pragma query_only = on");
    sqlite3_db_config(database.getHandle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    return database;
}

}  // namespace

Inspection::Inspection(const std::filesystem::path& data_directory,
                       const std::filesystem::path& ledger)
    : ledger_(ledger),
      database_(open(data_directory / "posthouse.db")),
      any_active_(database_, "select exists (select 1 from request where lane < 8)") {}

std::uint64_t Inspection::requests() {
    return static_cast<std::uint64_t>(
        database_.execAndGet("select count(*) from request").getInt64());
}

std::uint64_t Inspection::completed() {
    return in_status("completed");
}

std::uint64_t Inspection::in_status(std::string_view status) {
    SQLite::Statement statement(database_, "select count(*) from request where status = ?");
    statement.bind(1, std::string(status));
    statement.executeStep();
    return static_cast<std::uint64_t>(statement.getColumn(0).getInt64());
}

bool Inspection::all_ended() {
    any_active_.executeStep();
    const bool active = any_active_.getColumn(0).getInt() != 0;
    any_active_.reset();
    return !active;
}

std::map<std::int64_t, domain::Timestamp> Inspection::wakes() {
    std::map<std::int64_t, domain::Timestamp> wakes;
    SQLite::Statement statement(database_, "select id, wake_ms from request where lane < 8");
    while (statement.executeStep()) {
        wakes.emplace(statement.getColumn(0).getInt64(),
                      domain::from_unix_ms(statement.getColumn(1).getInt64()));
    }
    return wakes;
}

std::map<std::int64_t, domain::Timestamp> Inspection::inclusions() {
    std::map<std::int64_t, domain::Timestamp> inclusions;
    SQLite::Database ledger = open(ledger_);
    SQLite::Statement statement(ledger, "select request_sequence, included_ms from inclusion");
    while (statement.executeStep()) {
        const std::int64_t id = statement.getColumn(0).getInt64();
        const auto included = domain::from_unix_ms(statement.getColumn(1).getInt64());
        if (!inclusions.emplace(id, included).second) {
            throw std::runtime_error("the ledger shows a request twice: " + std::to_string(id));
        }
    }
    return inclusions;
}

}  // namespace bench
