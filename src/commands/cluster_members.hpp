#pragma once

#include <ostream>
#include <string>

#include "cluster/database.hpp"
#include "config/settings.hpp"

namespace commands {

// The process on the data directory lets another node own the book. Throws std::runtime_error when
// no process runs, or why it does not.
[[nodiscard]] int cluster_step_down(const config::Settings& settings, std::ostream& out);

// Strikes a node off that does not come back. Throws std::runtime_error when the book has no such
// node, or when it owns the book.
void forget_node(cluster::Database& database, const std::string& book, const std::string& node);

// The command.
[[nodiscard]] int cluster_forget(const config::Settings& settings, const std::string& node,
                                 std::ostream& out);

}  // namespace commands
