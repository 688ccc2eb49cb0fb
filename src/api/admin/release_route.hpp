#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/admin/admin_route.hpp"
#include "engine/instructions.hpp"

namespace api::admin {

// POST /admin/release with {"jobs": [ID, …]} or {"all": true}: requests that are held go on.
// `engine` outlives the route.
[[nodiscard]] AdminRoute release_route(engine::Instructed& engine);

// The other side of it: the body, and what the answer says. No jobs: all.
[[nodiscard]] std::string release_body(const std::vector<std::string>& jobs);
struct Released {
    std::uint64_t count = 0;
    std::vector<std::string> not_held;
    std::string error;  // of another status than 200
};
[[nodiscard]] Released read_released(const std::string& body);

}  // namespace api::admin
