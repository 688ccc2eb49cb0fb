#pragma once

#include "config/load.hpp"

namespace commands {

// Runs the service until a signal ends it; returns the exit status of the program. Throws when it
// can not start.
[[nodiscard]] int serve(const config::Loaded& loaded);

}  // namespace commands
