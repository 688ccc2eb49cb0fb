#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "api/admin/admin_route.hpp"

namespace api::admin {

inline constexpr std::string_view step_down_target = "/admin/cluster/step-down";

// POST /admin/cluster/step-down: 200 {"stepped_down": true} when this node lets another one own the
// book, 409 when it does not. `step_down` says why not, nothing when it does; any thread, and it
// may block until the book is let go.
[[nodiscard]] AdminRoute step_down_route(std::function<std::optional<std::string>()> step_down);

}  // namespace api::admin
