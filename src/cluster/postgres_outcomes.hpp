#pragma once

#include <type_traits>
#include <utility>
#include <variant>

#include "cluster/database.hpp"
#include "cluster/postgres_connection.hpp"

namespace cluster::postgres {

// The answer of a call: what `of_rows` makes of the rows, or why there are none. A lost read is no
// harm.
template <class Answer, class OfRows>
[[nodiscard]] Answer answer_of(Reply reply, const OfRows& of_rows) {
    if (auto* rejected = std::get_if<Rejected>(&reply)) {
        return Unavailable{std::move(rejected->reason)};
    }
    if (auto* lost = std::get_if<Lost>(&reply)) {
        if constexpr (std::is_constructible_v<Answer, Unknown>) {
            return Unknown{std::move(lost->reason)};
        } else {
            return Unavailable{std::move(lost->reason)};
        }
    }
    return of_rows(std::get<Rows>(reply));
}

// Of a write that says by the rows it changed whether it was done.
template <class Otherwise>
[[nodiscard]] Outcome<Done, Otherwise> done_or(Reply reply) {
    using Answer = Outcome<Done, Otherwise>;
    return answer_of<Answer>(std::move(reply), [](const Rows& rows) -> Answer {
        if (rows.changed() > 0) return Done{};
        return Otherwise{};
    });
}

// The server does not know the tables.
[[nodiscard]] inline bool has_no_tables(const Reply& reply) {
    const auto* rejected = std::get_if<Rejected>(&reply);
    return rejected != nullptr && (rejected->code == "42P01" || rejected->code == "3F000");
}

}  // namespace cluster::postgres
