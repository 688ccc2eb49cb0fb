#pragma once

#include <ostream>

#include "config/settings.hpp"

namespace commands {

// Asks the nodes of the configured chain whether a start would go well; one line for each thing
// that was looked at. Returns the exit status: 0 when nothing failed, 1 otherwise.
[[nodiscard]] int doctor(const config::Settings& settings, std::ostream& out);

}  // namespace commands
