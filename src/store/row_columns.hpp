#pragma once

#include <string>

#include "store/rows.hpp"
#include "store/statement.hpp"

namespace store {

// The columns of `request` that make a Row, in the order read_row() expects them first.
inline const std::string row_columns =
    "id, random, kind, status, lane, wake_ms, status_ms, deadline_ms, claims, attempts, faults, "
    "round, client";
inline constexpr int row_column_count = 13;

[[nodiscard]] Row read_row(const Statement& statement);

}  // namespace store
