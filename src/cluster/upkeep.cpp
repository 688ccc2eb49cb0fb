#include "cluster/upkeep.hpp"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

namespace cluster {

namespace {

constexpr std::int64_t entries_at_once = 5'000;
constexpr std::int64_t parts_at_once = 64;

template <class Found>
const Found* found_in(const Read<Found>& read) {
    return std::get_if<Found>(&read);
}

}  // namespace

Upkeep::Upkeep(Database& database, const ports::Clock& clock, Options options)
    : database_(database), clock_(clock), options_(std::move(options)) {}

bool Upkeep::wants_snapshot(bool is_owner) {
    const auto extent_read = database_.extent();
    const auto* extent = found_in(extent_read);
    if (extent == nullptr || !*extent) return false;
    const auto heads_read = database_.read_heads();
    const auto* heads = found_in(heads_read);
    if (heads == nullptr) return false;
    const std::int64_t newest = heads->empty() ? (*extent)->first : heads->front().seq;
    if (!is_owner && !is_for_me(newest)) return false;
    // Last: the database reads the sizes of all rows for it.
    const auto bytes_read = database_.journal_bytes();
    const auto* bytes = found_in(bytes_read);
    if (bytes == nullptr) return false;
    const std::int64_t entries = (*extent)->last - (*extent)->first + 1;
    const std::int64_t since = std::max<std::int64_t>((*extent)->last - newest, 0);
    const double grown = static_cast<double>(*bytes) * static_cast<double>(since) /
                         static_cast<double>(std::max<std::int64_t>(entries, 1));
    const auto every = static_cast<double>(options_.snapshot_every_bytes);
    return grown >= (is_owner ? 2 * every : every) && !is_under_way();
}

// Somebody puts one: more of it is there than at the last look. Of one that was cut off no more
// comes.
bool Upkeep::is_under_way() {
    const auto read = database_.read_unfinished();
    const auto* unfinished = found_in(read);
    if (unfinished == nullptr) return true;
    const auto before = std::exchange(unfinished_, *unfinished);
    return std::ranges::any_of(unfinished_, [&before](const Snapshot& one) {
        return std::ranges::find(before, one) == before.end();
    });
}

// A node that has ended stays where it is, and the others pass it. The owner is ahead of them all.
bool Upkeep::is_for_me(std::int64_t newest) {
    const auto owner_read = database_.read_owner();
    const auto* owner = found_in(owner_read);
    const auto nodes_read = database_.nodes();
    const auto* nodes = found_in(nodes_read);
    if (owner == nullptr || !*owner || nodes == nullptr) return false;
    const auto progress = [&](const Node& node) {
        return node.name == (*owner)->node ? std::int64_t{-1} : node.seq;
    };
    const auto furthest = std::ranges::max_element(*nodes, {}, progress);
    return furthest != nodes->end() && progress(*furthest) > newest &&
           furthest->name == options_.node;
}

void Upkeep::notice(const std::vector<Node>& nodes) {
    const domain::Monotonic now = clock_.monotonic();
    for (const Node& node : nodes) {
        const auto [place, is_new] = sights_.try_emplace(node.name, Sight{node.seen, now});
        if (is_new || place->second.seen == node.seen) continue;
        place->second = {node.seen, now};
    }
}

std::int64_t Upkeep::needed_from(const std::vector<Node>& nodes, std::int64_t snapshot) const {
    std::int64_t needed = snapshot;
    for (const Node& node : nodes) {
        const auto place = sights_.find(node.name);
        if (place == sights_.end() || node.name == options_.node) continue;
        const bool lives = clock_.monotonic() - place->second.noticed < options_.patience;
        // What a node has lacks nothing up to the next entry.
        if (lives) needed = std::min(needed, node.seq);
    }
    return needed;
}

bool Upkeep::trim() {
    const auto heads_read = database_.read_heads();
    const auto nodes_read = database_.nodes();
    const auto* heads = found_in(heads_read);
    const auto* nodes = found_in(nodes_read);
    if (heads == nullptr || nodes == nullptr) return false;
    notice(*nodes);
    if (heads->size() < 2) return false;
    const auto trimmed = database_.trim(needed_from(*nodes, (*heads)[1].seq), entries_at_once);
    const auto dropped = database_.drop_old_snapshots(parts_at_once);
    const auto* entries = std::get_if<Trimmed>(&trimmed);
    const auto* parts = std::get_if<Dropped>(&dropped);
    return (entries != nullptr && entries->entries > 0) || (parts != nullptr && parts->parts > 0);
}

}  // namespace cluster
