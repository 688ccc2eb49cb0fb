#pragma once

#include <ostream>

#include "config/command_line.hpp"
#include "config/settings.hpp"

namespace commands {

// Shows what the admin interface of the process on the data directory answers. Where none runs,
// what the files say: the owner lock is held meanwhile, and root becomes the owner of the directory
// before anything in it is touched. Returns the exit status: 0, or 1 with one line in `errors` for
// what was refused. Throws std::runtime_error for what can not be reached or read.
[[nodiscard]] int ask(const config::Settings& settings, const config::Ask& command,
                      std::ostream& out, std::ostream& errors);

}  // namespace commands
