#pragma once

#include <string>

#include "api/metrics/process_facts.hpp"
#include "api/metrics/sampled_families.hpp"
#include "cluster/node_state.hpp"
#include "domain/time.hpp"

namespace api::metrics {

// What a node of several knows of its book.
void add_node(SampledFamilies& families, const cluster::NodeState& node, domain::Timestamp now);

void add_process(SampledFamilies& families, const ProcessFacts& process);

// All that a follower has, in the Prometheus text format 0.0.4.
[[nodiscard]] std::string follower_exposition(const cluster::NodeState& node, domain::Timestamp now,
                                              const ProcessFacts& process);

}  // namespace api::metrics
