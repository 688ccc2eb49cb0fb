#pragma once

#include <string_view>

#include "api/admin/admin_changes.hpp"
#include "net/http_message.hpp"

namespace api::admin {

// The answers of /admin/config: JSON with `error`, or free text about a body that is no change
// (relayer-api 6.1 to 6.3).

[[nodiscard]] net::HttpResponse admin_state(const AdminChanges::State& state);
// `name` as the client wrote it, `value` as JSON.
[[nodiscard]] net::HttpResponse admin_changed(std::string_view name, std::string_view value);
[[nodiscard]] net::HttpResponse admin_text(int status, std::string_view text);

}  // namespace api::admin
