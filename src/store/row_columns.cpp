#include "store/row_columns.hpp"

#include <cassert>

namespace store {

Row read_row(const Statement& statement) {
    Row row;
    row.id = {statement.integer(0), statement.integer(1)};
    const auto kind = domain::kind_from(statement.text(2));
    const auto status = domain::status_from(statement.text(3));
    assert(kind && status);  // the schema checks both
    row.kind = *kind;
    row.status = *status;
    row.schedule.lane = static_cast<Lane>(statement.integer(4));
    row.schedule.wake = domain::from_unix_ms(statement.integer(5));
    row.since = domain::from_unix_ms(statement.integer(6));
    if (const std::int64_t deadline = statement.integer(7); deadline != 0) {
        row.schedule.deadline = domain::from_unix_ms(deadline);
    }
    row.schedule.claims = static_cast<std::uint32_t>(statement.integer(8));
    row.schedule.attempts = static_cast<std::uint32_t>(statement.integer(9));
    row.schedule.faults = static_cast<std::uint32_t>(statement.integer(10));
    if (!statement.is_null(11)) row.round = statement.integer(11);
    row.client = statement.integer(12);
    return row;
}

}  // namespace store
