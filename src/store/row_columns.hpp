#pragma once

#include <string>
#include <variant>

#include "store/rows.hpp"
#include "store/statement.hpp"

namespace store {

// The columns of `request` that make a Row, in the order decode_row() expects them first.
inline const std::string row_columns =
    "id, random, kind, status, lane, wake_ms, status_ms, deadline_ms, claims, attempts, faults, "
    "round, client, unreached_ms, refused_ms";
inline constexpr int row_column_count = 15;

// Whatever the file says is checked here, so that nobody behind has to.
[[nodiscard]] std::variant<Row, BrokenRow> decode_row(const Statement& statement);

}  // namespace store
