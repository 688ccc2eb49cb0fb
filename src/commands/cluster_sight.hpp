#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "cluster/database.hpp"
#include "cluster/lease.hpp"
#include "domain/time.hpp"
#include "ports/clock.hpp"
#include "ports/progress.hpp"

namespace commands {

struct NodeSight {
    cluster::Node node;
    bool lives = false;  // it has told of itself meanwhile
};

// What can be seen of a book from outside.
struct BookSight {
    cluster::Owner owner;
    bool owner_lives = false;  // it has renewed its lease meanwhile, or another one has begun
    domain::Milliseconds watched{};
    cluster::Extent extent;
    std::int64_t journal_bytes = 0;
    std::vector<cluster::Snapshot> snapshots;  // the newest first
    std::vector<NodeSight> nodes;              // by name
};

struct Watching {
    const ports::Clock& clock;
    std::function<void(domain::Milliseconds)> pause;  // what it throws ends the work
    cluster::LeaseOptions lease{};
    // Whether to watch until each node has told of itself, not only the owner.
    bool nodes_too = false;

    [[nodiscard]] domain::Milliseconds most() const { return lease.length + lease.margin(); }
};

// Looks at the book again and again until it is known who lives; who was not heard of for a lease
// and its margin does not. Nothing: there is no such book. Throws NoAnswerOfDatabase.
[[nodiscard]] std::optional<BookSight> look_at_book(cluster::Database& database,
                                                    const Watching& watching);

// Watches in real time, shows for how long, and lets it be interrupted meanwhile.
[[nodiscard]] Watching watch_with(const ports::Progress& progress, const ports::Clock& clock,
                                  const cluster::LeaseOptions& lease);

}  // namespace commands
