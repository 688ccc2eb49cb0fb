#pragma once

#include <ostream>

#include "config/command_line.hpp"
#include "config/settings.hpp"

namespace commands {

// Has the process on the data directory do what an operator wants, one thing after the other. A
// line in `out` for each that was done, in `errors` for each that was not. Returns the exit status:
// 0 when all were, otherwise 1. Throws std::runtime_error when no process answers.
[[nodiscard]] int instruct(const config::Settings& settings, const config::Instruct& command,
                           std::ostream& out, std::ostream& errors);

}  // namespace commands
