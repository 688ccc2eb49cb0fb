#pragma once

#include <variant>

#include "api/admin/admin_parameters.hpp"
#include "api/json_reader.hpp"

namespace api::admin {

// The values of parameters by type, with the error texts of the reference (relayer-api 6.2). Each
// takes a number or an array.

[[nodiscard]] std::variant<AdminValue, AdminError> read_whole(const AdminParameter&, JsonValue);
[[nodiscard]] std::variant<AdminValue, AdminError> read_fraction(const AdminParameter&, JsonValue);
[[nodiscard]] std::variant<AdminValue, AdminError> read_intervals(const AdminParameter&, JsonValue);

}  // namespace api::admin
