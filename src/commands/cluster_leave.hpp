#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "cluster/database.hpp"
#include "commands/cluster_sight.hpp"
#include "config/settings.hpp"
#include "ports/progress.hpp"
#include "store/journal_position.hpp"

namespace commands {

// What speaks against going on with this file alone: what it lacks of the book, and who goes on
// with the book. `node`: of this file. Throws NoAnswerOfDatabase.
[[nodiscard]] std::vector<std::string> objections_to_leaving(cluster::Database& database,
                                                             const store::JournalPosition& position,
                                                             const std::string& node,
                                                             const Watching& watching);

// The command: makes the file of the data directory one of a single machine. `force`: whatever the
// database says, and without it. Throws std::runtime_error with what speaks against it.
[[nodiscard]] int cluster_leave(const config::Settings& settings, bool force,
                                const ports::Progress& progress, std::ostream& out);

}  // namespace commands
