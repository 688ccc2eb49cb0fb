#include "commands/cluster_sight.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "commands/cluster_book.hpp"

namespace commands {

namespace {

bool is_same_beat(const cluster::Owner& one, const cluster::Owner& other) {
    return one.epoch == other.epoch && one.instance == other.instance && one.beat == other.beat;
}

// One that was not there at the first look has told of itself since.
std::vector<NodeSight> compare(const std::vector<cluster::Node>& first,
                               std::vector<cluster::Node> last) {
    std::vector<NodeSight> sights;
    sights.reserve(last.size());
    for (cluster::Node& node : last) {
        const bool is_unchanged = std::ranges::find(first, node) != first.end();
        sights.push_back({std::move(node), !is_unchanged});
    }
    return sights;
}

bool is_all_seen(const BookSight& sight, const Watching& watching) {
    if (sight.owner.epoch != 0 && !sight.owner_lives) return false;
    return !watching.nodes_too || std::ranges::all_of(sight.nodes, &NodeSight::lives);
}

}  // namespace

std::optional<BookSight> look_at_book(cluster::Database& database, const Watching& watching) {
    const auto owner = found_in(database.read_owner());
    if (!owner) return std::nullopt;
    const auto nodes = found_in(database.nodes());
    BookSight sight;
    sight.owner = *owner;
    sight.nodes = compare(nodes, nodes);

    const domain::Monotonic begin = watching.clock.monotonic();
    while (!is_all_seen(sight, watching) && sight.watched < watching.most()) {
        watching.pause(watching.lease.watch_pause());
        sight.owner = found_in(database.read_owner()).value_or(sight.owner);
        sight.owner_lives = !is_same_beat(*owner, sight.owner);
        sight.nodes = compare(nodes, found_in(database.nodes()));
        sight.watched =
            std::chrono::floor<domain::Milliseconds>(watching.clock.monotonic() - begin);
    }
    const auto extent = found_in(database.extent());
    if (!extent) return std::nullopt;
    sight.extent = *extent;
    sight.journal_bytes = found_in(database.journal_bytes());
    sight.snapshots = found_in(database.read_heads());
    return sight;
}

Watching watch_with(const ports::Progress& progress, const ports::Clock& clock,
                    const cluster::LeaseOptions& lease) {
    Watching watching{clock, {}, lease};
    watching.pause = [progress, waited = domain::Milliseconds{0},
                      most = watching.most()](domain::Milliseconds pause) mutable {
        progress({"looking who lives", static_cast<std::uint64_t>(waited.count()),
                  static_cast<std::uint64_t>(most.count()), "of a lease"});
        std::this_thread::sleep_for(pause);
        waited += pause;
    };
    return watching;
}

}  // namespace commands
