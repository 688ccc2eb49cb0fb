#include "cluster/simulated_cluster.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>

#include "cluster/chain.hpp"

namespace cluster_test {

using namespace std::chrono_literals;

SimulatedCluster::SimulatedCluster(std::uint64_t seed, std::size_t count, const MakeWork& make_work)
    : server(clock, seed), chance(seed + 7'000'000) {
    support::SimulatedDatabase maker(server, "main");
    REQUIRE(is_a<cluster::Done>(maker.initialise(genesis)));
    for (std::size_t i = 0; i < count; ++i) {
        nodes.push_back(std::make_unique<SimulatedNode>(static_cast<char>('a' + i), clock, server,
                                                        make_work, seed * 10 + i));
    }
}

void SimulatedCluster::run_for(domain::Nanoseconds time) {
    const domain::Monotonic end = clock.monotonic() + time;
    while (clock.monotonic() < end) {
        for (const auto& node : nodes) node->step();
        server.deliver_late();
        at_each_moment();
        clock.advance(25ms);
    }
}

SimulatedNode* SimulatedCluster::owner() const {
    const auto found =
        std::ranges::find_if(nodes, [](const auto& node) { return node->is_owner(); });
    return found == nodes.end() ? nullptr : found->get();
}

void SimulatedCluster::bad_day() {
    SimulatedNode& node = *nodes[chance.below(nodes.size())];
    switch (chance.below(9)) {
        case 0:
            node.kill();
            break;
        case 1:
            if (owner() != nullptr) owner()->kill();
            break;
        case 2:
            node.freeze();
            break;
        case 3:
            if (owner() != nullptr) owner()->freeze();
            break;
        case 4:
            server.crash();
            break;
        case 5:
            server.promote();
            break;
        case 6:
            server.lose_standby();
            break;
        case 7:
            server.cancel_waits();
            break;
        default:
            for (const auto& each : nodes) each->kill();
    }
}

void SimulatedCluster::mend() {
    server.return_standby();
    for (const auto& node : nodes) {
        node->thaw();
        node->start();
    }
}

void SimulatedCluster::live_through(int days) {
    for (int day = 0; day < days; ++day) {
        run_for(domain::Milliseconds{chance.below(4'000)});
        bad_day();
        run_for(domain::Milliseconds{chance.below(6'000)});
        mend();
    }
}

}  // namespace cluster_test
