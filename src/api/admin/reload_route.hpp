#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/admin/admin_route.hpp"

namespace api::admin {

// What was read again, or was not.
struct Reloaded {
    std::string what;      // `client_keys`, `tls`
    std::string facts;     // `keys=2`
    std::string problem;   // why the old ones stay; empty: done
    bool is_copy = false;  // of a file, made at the start: what changed there is not in it
};

// POST /admin/reload: 200 when all was read again, 409 when something was not. `reload` is called
// from any thread.
[[nodiscard]] AdminRoute reload_route(std::function<std::vector<Reloaded>()> reload);

}  // namespace api::admin
