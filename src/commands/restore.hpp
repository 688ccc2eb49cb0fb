#pragma once

#include <filesystem>
#include <optional>
#include <ostream>

#include "config/settings.hpp"
#include "ports/progress.hpp"

namespace commands {

struct RestoreCommand {
    std::filesystem::path file;
    std::optional<std::filesystem::path> key_file;
    bool without_shares = false;
};

// Makes the database of the data directory from a backup, and says in `out` what is in it and what
// waits for the operator. Returns the exit status: 0, or config::exit_damaged when rows have
// faults, each of them a line. Throws OpenError, StorageError, what `progress` throws, and
// std::runtime_error for the key.
[[nodiscard]] int restore(const config::Settings& settings, const RestoreCommand& command,
                          const ports::Progress& progress, std::ostream& out);

}  // namespace commands
