#pragma once

#include <filesystem>
#include <ostream>

#include "config/settings.hpp"
#include "ports/progress.hpp"

namespace commands {

// Looks at the database of the data directory, which this process owns meanwhile. A line in `out`
// for each fault, then what was looked at. Returns the exit status: 0, or config::exit_damaged.
// Throws OpenError or StorageError, and what `progress` throws.
[[nodiscard]] int verify_directory(const config::Settings& settings,
                                   const ports::Progress& progress, std::ostream& out);

// The same of a file that nobody writes to, such as a backup.
[[nodiscard]] int verify_file(const std::filesystem::path& file, const ports::Progress& progress,
                              std::ostream& out);

}  // namespace commands
