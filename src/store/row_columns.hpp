#pragma once

#include <optional>
#include <string>
#include <variant>

#include "domain/failure.hpp"
#include "store/rows.hpp"
#include "store/statement.hpp"

namespace store {

// The columns of `request` that make a Row, in the order decode_row() expects them first.
inline const std::string row_columns =
    "id, random, kind, status, lane, wake_ms, status_ms, deadline_ms, claims, attempts, faults, "
    "round, client, unreached_ms, refused_ms";
inline constexpr int row_column_count = 15;

// Why a request failed: what decode_failure() expects from a column on.
inline const std::string failure_columns = "reason, detail, selector";
inline constexpr int failure_column_count = 3;
[[nodiscard]] std::optional<domain::Failure> decode_failure(const Statement& statement, int column);

// The columns of `attempt` that make an Attempt without its bytes, the first of the statement.
inline const std::string attempt_columns =
    "nonce, hash, sealed_ms, block, gas, gas_price, "
    "(select address from account where account.id = attempt.account)";
inline constexpr int attempt_column_count = 7;
[[nodiscard]] Attempt decode_attempt(const Statement& statement);

// Whatever the file says is checked here, so that nobody behind has to.
[[nodiscard]] std::variant<Row, BrokenRow> decode_row(const Statement& statement);

}  // namespace store
