#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cluster/database.hpp"
#include "domain/time.hpp"
#include "ports/clock.hpp"

namespace cluster {

// Keeps the journal bounded: who is to put a snapshot, and what of the journal nobody needs any
// more. One thread, over a connection that nothing urgent waits for.
class Upkeep {
public:
    struct Options {
        std::string node;
        std::uint64_t snapshot_every_bytes = 0;
        // For so long after its last sign of life a node is waited for; then it starts again from a
        // snapshot.
        domain::Milliseconds patience{120'000};
    };

    Upkeep(Database& database, const ports::Clock& clock, Options options);

    // The journal has grown enough, and of all nodes it is for this one: the follower that is
    // furthest, or the owner where no follower did it. None is under way. False when the database
    // does not answer.
    [[nodiscard]] bool wants_snapshot(bool is_owner);

    // For the owner: drops some entries and parts that no snapshot and no living node needs. True:
    // there is more to drop.
    [[nodiscard]] bool trim();

private:
    struct Sight {
        domain::Timestamp seen{};
        domain::Monotonic noticed{};
    };

    [[nodiscard]] bool is_for_me(std::int64_t newest);
    [[nodiscard]] bool is_under_way();
    void notice(const std::vector<Node>& nodes);
    [[nodiscard]] std::int64_t needed_from(const std::vector<Node>& nodes,
                                           std::int64_t snapshot) const;

    Database& database_;
    const ports::Clock& clock_;
    const Options options_;
    std::map<std::string, Sight> sights_;
    std::vector<Snapshot> unfinished_;  // as they were at the last look
};

}  // namespace cluster
