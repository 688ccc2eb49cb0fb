#pragma once

#include <ostream>
#include <string>

#include "cluster/database.hpp"
#include "commands/cluster_sight.hpp"
#include "config/settings.hpp"

namespace commands {

// The process on the data directory lets another node own the book. Throws std::runtime_error when
// no process runs, or why it does not.
[[nodiscard]] int cluster_step_down(const config::Settings& settings, std::ostream& out);

// Strikes a node off that does not come back. True: it lives, and will be one of the nodes again.
// Throws std::runtime_error when the book has no such node, or when it owns the book.
[[nodiscard]] bool forget_node(cluster::Database& database, Watching watching,
                               const std::string& book, const std::string& node);

// The command.
[[nodiscard]] int cluster_forget(const config::Settings& settings, const std::string& node,
                                 std::ostream& out);

}  // namespace commands
