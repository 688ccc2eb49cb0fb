#include "store/row_columns.hpp"

#include <cstdint>
#include <optional>
#include <utility>

namespace store {

namespace {

std::optional<domain::Timestamp> timestamp_or_none(std::int64_t milliseconds) {
    if (milliseconds == 0) return std::nullopt;
    return domain::from_unix_ms(milliseconds);
}

}  // namespace

std::variant<Row, BrokenRow> decode_row(const Statement& statement) {
    Row row;
    row.id = {statement.integer(0), statement.integer(1)};
    const auto kind = domain::kind_from(statement.text(2));
    const auto status = domain::status_from(statement.text(3));
    if (!statement.is_null(11)) row.round = statement.integer(11);
    const auto broken = [&](std::string problem) {
        return BrokenRow{row.id.sequence, kind, status, row.round, std::move(problem)};
    };
    if (!kind) return broken("its kind is unknown");
    if (!status) return broken("its status is unknown");
    row.kind = *kind;
    row.status = *status;
    row.schedule.lane = static_cast<Lane>(statement.integer(4));
    row.schedule.wake = domain::from_unix_ms(statement.integer(5));
    row.since = domain::from_unix_ms(statement.integer(6));
    row.schedule.deadline = timestamp_or_none(statement.integer(7));
    row.schedule.unreached_since = timestamp_or_none(statement.integer(13));
    row.schedule.refused_since = timestamp_or_none(statement.integer(14));
    for (int column = 8; column <= 10; ++column) {
        if (!std::in_range<std::uint32_t>(statement.integer(column))) {
            return broken("a count of its tries is out of range");
        }
    }
    row.schedule.claims = static_cast<std::uint32_t>(statement.integer(8));
    row.schedule.attempts = static_cast<std::uint32_t>(statement.integer(9));
    row.schedule.faults = static_cast<std::uint32_t>(statement.integer(10));
    row.client = statement.integer(12);
    if (auto problem = problem_of(row)) return broken(std::move(*problem));
    return row;
}

std::optional<domain::Failure> decode_failure(const Statement& statement, int column) {
    if (statement.is_null(column)) return std::nullopt;
    domain::Failure failure;
    failure.reason =
        domain::reason_from(statement.text(column)).value_or(domain::Reason::internal_error);
    failure.text = std::string(statement.text(column + 1));
    if (!statement.is_null(column + 2)) {
        failure.selector = static_cast<std::uint32_t>(statement.integer(column + 2));
    }
    return failure;
}

Attempt decode_attempt(const Statement& statement) {
    const auto number_at = [&](int column) -> std::optional<std::uint64_t> {
        if (statement.is_null(column)) return std::nullopt;
        return static_cast<std::uint64_t>(statement.integer(column));
    };
    Attempt attempt;
    attempt.nonce = static_cast<std::uint64_t>(statement.integer(0));
    attempt.hash = statement.bytes32(1);
    attempt.at = domain::from_unix_ms(statement.integer(2));
    attempt.block = number_at(3);
    attempt.charge = {number_at(4), number_at(5)};
    if (!statement.is_null(6)) attempt.account = statement.text(6);
    return attempt;
}

}  // namespace store
