#pragma once

#include <string_view>
#include <vector>

#include "api/admin/admin_route.hpp"
#include "ports/clock.hpp"
#include "ports/logger.hpp"
#include "ports/random.hpp"

namespace api::admin::page {

// GET / and what belongs to it: the admin interface for people with a browser. The token is shown
// once; then a cookie stands for it (HttpOnly, SameSite=Strict), and each form carries a token of
// its own, so that no other site can act. What it shows and does is what `routes` answer to
// programs. `admin_token` is copied; the others outlive the routes.
[[nodiscard]] std::vector<AdminRoute> page_routes(std::vector<AdminRoute> routes,
                                                  std::string_view admin_token,
                                                  const ports::Clock& clock, ports::Random& random,
                                                  ports::Logger& logger);

}  // namespace api::admin::page
