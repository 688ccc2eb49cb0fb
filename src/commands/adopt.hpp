#pragma once

#include <ostream>

#include "config/settings.hpp"

namespace commands {

// Makes the database of the settings that of the chains they name (engine/chain_marks.hpp); no
// service may run on it meanwhile. One line in `out` for each chain. Returns the exit status.
// Throws engine::ForeignDatabase, OpenError or StorageError.
[[nodiscard]] int adopt(const config::Settings& settings, std::ostream& out);

}  // namespace commands
