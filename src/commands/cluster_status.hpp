#pragma once

#include <optional>
#include <ostream>
#include <string>

#include "cluster/options.hpp"
#include "cluster/position.hpp"
#include "commands/cluster_sight.hpp"
#include "config/settings.hpp"
#include "ports/progress.hpp"
#include "store/journal_position.hpp"

namespace commands {

// What a machine has of the book itself.
struct FileSight {
    std::string file;
    std::optional<store::StoredPosition> stored;  // nothing: it belongs to no book
    std::optional<cluster::Standing> standing;    // of a file of this book
    std::string problem;  // why it was not looked at, such as that there is none; empty: it was
};

struct ClusterStatus {
    BookSight book;
    unsigned standbys = 0;
    FileSight file;
};

// Whole lines for a terminal, and one object for programs.
[[nodiscard]] std::string status_lines(const cluster::Options& options,
                                       const ClusterStatus& status);
[[nodiscard]] std::string status_json(const cluster::Options& options, const ClusterStatus& status);

// The command: asks the database, not a process of posthouse. Throws std::runtime_error when the
// database does not answer or has no such book; how far this machine is was written then.
[[nodiscard]] int cluster_status(const config::Settings& settings, bool as_json,
                                 const ports::Progress& progress, std::ostream& out);

}  // namespace commands
