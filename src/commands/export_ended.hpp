#pragma once

#include <filesystem>
#include <optional>
#include <ostream>
#include <string_view>

#include "config/settings.hpp"
#include "domain/time.hpp"
#include "ports/progress.hpp"

namespace commands {

// A day (`2026-11-28`), a second of it (`2026-11-28T06:00:00Z`), both UTC, or Unix seconds.
[[nodiscard]] std::optional<domain::Timestamp> read_time(std::string_view text);

// One line of JSON in `out` for each request that ended at `since` or later, of the data directory
// or of a backup; a process may use the data directory meanwhile. Shares only when their times may
// be told (helper.expose_timing). Returns the exit status: 0, or config::exit_not_all when a row
// could not be read. Throws OpenError, StorageError, what `progress` throws, and
// std::runtime_error when `out` takes no more.
[[nodiscard]] int export_ended(const config::Settings& settings,
                               const std::optional<std::filesystem::path>& backup,
                               domain::Timestamp since, const ports::Progress& progress,
                               std::ostream& out);

}  // namespace commands
