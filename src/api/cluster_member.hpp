#pragma once

#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cluster/node_state.hpp"
#include "domain/time.hpp"
#include "engine/health.hpp"

namespace api {

// What a node says of itself in /healthz and to operators: role, book, node, epoch, the owner's
// name, entries it lacks, age of the last one it has, and the obstacle. What is not known is null.
[[nodiscard]] nlohmann::ordered_json cluster_member(const cluster::NodeState& state,
                                                    domain::Timestamp now);

// `journal`: its database answers; `book`: the node goes on by itself.
[[nodiscard]] std::vector<engine::Dependency> dependencies_of(const cluster::NodeState& state);

}  // namespace api
