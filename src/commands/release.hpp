#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "config/settings.hpp"

namespace commands {

// Lets requests go on that the running process holds; none named: all. Says in `out` how many, and
// which of those that were named were not held. Returns the exit status: 0, or 1 when there is such
// a one. Throws std::runtime_error when no process runs or it refuses.
[[nodiscard]] int release(const config::Settings& settings, const std::vector<std::string>& jobs,
                          std::ostream& out);

}  // namespace commands
