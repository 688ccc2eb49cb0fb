#include <array>
#include <string>

#include "bench/bodies.hpp"
#include "bench/load.hpp"
#include "bench/posthouse.hpp"
#include "bench/scenarios.hpp"
#include "bench/scratch.hpp"

namespace bench {

namespace {

struct Latency {
    std::size_t clients = 0;
    Series p50_ms = {};
    Series p99_ms = {};
};

void measure_round(const Options& options, const Body& share, std::array<Latency, 5>& latencies) {
    const Scratch scratch(options.directory);
    Posthouse posthouse(options, {scratch.path(), {}}, standing_still());
    Posts posts(share, crowd_clients);
    for (Latency& latency : latencies) {
        const auto outcome = load_for(posthouse.port(), latency.clients, far_shares(posts),
                                      options.amount.slice, share_accepted);
        latency.p50_ms.add(outcome.latency_ms(500));
        latency.p99_ms.add(outcome.latency_ms(990));
    }
    posthouse.stop();
}

}  // namespace

void measure_latency(const Options& options, Report& report) {
    const Body share = Body::vote_share(options.bodies);
    std::array<Latency, 5> latencies{{{1}, {4}, {16}, {64}, {crowd_clients}}};
    for (std::size_t round = 0; round < options.amount.drain_rounds; ++round) {
        measure_round(options, share, latencies);
    }
    for (const Latency& latency : latencies) {
        const std::string what =
            "latency of an accept, clients: " + std::to_string(latency.clients);
        const auto clients = static_cast<double>(latency.clients);
        report.point({"latency p50", clients}, what + ", p50", "ms", latency.p50_ms);
        report.point({"latency p99", clients}, what + ", p99", "ms", latency.p99_ms);
    }
}

}  // namespace bench
