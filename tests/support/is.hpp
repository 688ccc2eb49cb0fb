#pragma once

#include <variant>

// Whether an outcome is this alternative.
template <typename Wanted, typename Variant>
[[nodiscard]] bool is(const Variant& outcome) {
    return std::holds_alternative<Wanted>(outcome);
}
