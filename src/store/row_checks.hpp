#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "store/rows.hpp"
#include "store/statement.hpp"
#include "store/verify.hpp"

namespace store {

// What the engine relies on, of every row of a database with the newest schema. One thread.
class RowChecks {
public:
    RowChecks(SQLite::Database& database, FaultSink found);

    // How many requests there are.
    std::uint64_t run(const ports::Progress& progress);

private:
    // What is stored of the transactions of a request.
    struct Attempts {
        std::int64_t count = 0;
        bool in_order = true;
    };
    struct RoundTally {
        std::map<domain::Status, std::uint64_t> ended;
        std::uint64_t pending = 0;
    };

    void check_request();
    void check_identity(const Row& row);
    void check_end(const Row& row);
    void check_attempts(const Row& row);
    void check_body(const Row& row);
    void check_share(const Row& row);
    void check_result(const Row& row);
    void check_rounds();
    void check_pairs();
    [[nodiscard]] Attempts attempts_of(std::int64_t id);
    void report(const Row& row, const std::string& problem);

    SQLite::Database& database_;
    const FaultSink found_;
    const bool shares_are_sealed_;
    Statement requests_;
    Statement attempts_;
    Statement payload_;
    Statement result_;
    std::map<std::int64_t, RoundTally> rounds_;
    std::set<std::int64_t> rounds_unsure_;  // a share of theirs can not be read
};

}  // namespace store
