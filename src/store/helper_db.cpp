#include "store/helper_db.hpp"

#include <SQLiteCpp/SQLiteCpp.h>

#include <array>
#include <map>
#include <set>
#include <string_view>

#include "store/open_errors.hpp"
#include "store/statement.hpp"

namespace store {

namespace {

using Columns = std::set<std::string>;
using Ends = std::map<std::string, std::int64_t>;  // of rounds in lower case

constexpr std::array<const char*, 10> essential{
    "round_id",     "share_index",  "shares_hash",   "proposal_id", "vote_decision",
    "enc_share_c1", "enc_share_c2", "tree_position", "state",       "attempts"};

// None for a view: one may go on for ever.
Columns columns_of(SQLite::Database& database, const char* table) {
    Statement statement(
        database,
        "select lower(name) from pragma_table_info(?1) where exists (select 1 from "
        "sqlite_schema entry where lower(entry.name) = ?1 and entry.type = 'table')");
    statement.with(table);
    Columns columns;
    while (statement.next()) columns.emplace(statement.text(0));
    return columns;
}

void require_essential(const Columns& columns) {
    if (columns.empty()) {
        throw ForeignDatabase("this is no database of a helper: it has no table shares");
    }
    std::string missing;
    for (const char* column : essential) {
        if (columns.contains(column)) continue;
        missing.append(missing.empty() ? "" : ", ").append(column);
    }
    if (missing.empty()) return;
    throw ForeignDatabase("this is no layout of a helper that is known: its table shares has no " +
                          missing);
}

std::string or_else(const Columns& columns, const std::string& column, const char* otherwise) {
    return columns.contains(column) ? column : otherwise;
}

// Null unless SQLite keeps a whole number there: what else stands there must not read as 0.
std::string number(const std::string& expression) {
    return "iif(typeof(" + expression + ") = 'integer', " + expression + ", null)";
}

std::string select_of(const Columns& columns) {
    return "select round_id, " + number("share_index") + ", " + number("proposal_id") + ", " +
           number("tree_position") + ", " + number("vote_decision") + ", " + number("state") +
           ", " + number("attempts") + ", " + number(or_else(columns, "vote_end_time", "0")) +
           ", " + number(or_else(columns, "submit_at", "0")) +
           ", shares_hash, enc_share_c1, enc_share_c2, " + or_else(columns, "share_comms", "''") +
           ", " + or_else(columns, "primary_blind", "''") + ", lower(round_id) from shares";
}

void read_ends(SQLite::Database& database, const std::string& table, Ends& ends) {
    Statement statement(database, "select lower(round_id), min(vote_end_time) from " + table +
                                      " where typeof(vote_end_time) = 'integer' and "
                                      "vote_end_time > 0 group by lower(round_id)");
    while (statement.next()) ends.try_emplace(std::string(statement.text(0)), statement.integer(1));
}

Ends ends_of_rounds(SQLite::Database& database, const Columns& shares) {
    Ends ends;
    const Columns rounds = columns_of(database, "rounds");
    if (rounds.contains("round_id") && rounds.contains("vote_end_time")) {
        read_ends(database, "rounds", ends);
    }
    if (shares.contains("vote_end_time")) read_ends(database, "shares", ends);
    return ends;
}

HelperRow::Number number_at(const Statement& statement, int column) {
    if (statement.is_null(column)) return std::nullopt;
    return statement.integer(column);
}

}  // namespace

class HelperDb::Impl {
public:
    explicit Impl(const std::filesystem::path& path)
        : database_(path.string(), SQLite::OPEN_READONLY | SQLite::OPEN_NOMUTEX),
          columns_(columns_of(database_, "shares")) {
        require_essential(columns_);
        ends_ = ends_of_rounds(database_, columns_);
        rows_.emplace(database_, select_of(columns_));
    }

    [[nodiscard]] std::optional<HelperRow> next() {
        if (done_) return std::nullopt;
        const Statement& at = *rows_;
        if (!rows_->next()) {
            done_ = true;
            return std::nullopt;
        }
        HelperRow row;
        row.round_id = at.text(0);
        row.share_index = number_at(at, 1);
        row.proposal_id = number_at(at, 2);
        row.tree_position = number_at(at, 3);
        row.vote_decision = number_at(at, 4);
        row.state = number_at(at, 5);
        row.attempts = number_at(at, 6);
        row.vote_end_time = number_at(at, 7);
        row.submit_at = number_at(at, 8);
        row.shares_hash = at.text(9);
        row.enc_share_c1 = at.text(10);
        row.enc_share_c2 = at.text(11);
        row.share_comms = at.text(12);
        row.primary_blind = at.text(13);
        if (row.vote_end_time == 0) {
            const auto known = ends_.find(std::string(at.text(14)));
            if (known != ends_.end()) row.vote_end_time = known->second;
        }
        return row;
    }

private:
    SQLite::Database database_;
    Columns columns_;
    Ends ends_;
    std::optional<Statement> rows_;
    bool done_ = false;
};

HelperDb::HelperDb(const std::filesystem::path& path) {
    try {
        impl_ = std::make_unique<Impl>(path);
    } catch (const SQLite::Exception& error) {
        throw to_storage_error(error, "opening " + path.string());
    }
}

HelperDb::~HelperDb() = default;

std::optional<HelperRow> HelperDb::next() {
    return impl_->next();
}

}  // namespace store
