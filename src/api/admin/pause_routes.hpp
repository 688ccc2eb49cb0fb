#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "api/admin/admin_route.hpp"
#include "domain/kind.hpp"
#include "engine/instructions.hpp"
#include "ports/logger.hpp"

namespace api::admin {

// Under which name a log level is remembered, as JSON of its name.
inline constexpr std::string_view log_level_setting = "log_level";

[[nodiscard]] std::string_view name_of(ports::LogLevel level);
[[nodiscard]] std::optional<ports::LogLevel> log_level_from(std::string_view name);
[[nodiscard]] std::optional<domain::Family> family_from(std::string_view name);

// POST /admin/kinds/KIND/pause, /admin/kinds/KIND/resume and /admin/log-level/LEVEL. What is set
// outlives restarts; `set_level` is called after the commit, from any thread.
[[nodiscard]] std::vector<AdminRoute> pause_routes(engine::Instructed& engine,
                                                   std::function<void(ports::LogLevel)> set_level);

}  // namespace api::admin
