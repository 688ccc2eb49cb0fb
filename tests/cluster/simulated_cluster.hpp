#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "cluster/simulated_node.hpp"
#include "support/simulated_database.hpp"
#include "support/virtual_time.hpp"

namespace cluster_test {

// Several nodes with files of their own and one database, in virtual time. All follows from the
// seed.
class SimulatedCluster {
public:
    SimulatedCluster(std::uint64_t seed, std::size_t count, const MakeWork& make_work);

    // Called at each moment, after the nodes did what was due.
    std::function<void()> at_each_moment = [] {};

    void run_for(domain::Nanoseconds time);
    // Null: nobody does.
    [[nodiscard]] SimulatedNode* owner() const;

    // One of what happens to machines, now.
    void bad_day();
    void mend();
    // Some bad days, each with its end.
    void live_through(int days);

    support::VirtualClock clock;
    support::SimulatedServer server;
    support::SeededRandom chance;
    std::vector<std::unique_ptr<SimulatedNode>> nodes;
};

}  // namespace cluster_test
