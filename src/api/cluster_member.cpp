#include "api/cluster_member.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

#include <nlohmann/json.hpp>

namespace api {

namespace {

using Json = nlohmann::ordered_json;

// Clocks of two nodes: what is said to lie ahead has just been.
std::int64_t age_seconds(domain::Timestamp then, domain::Timestamp now) {
    return std::max<std::int64_t>(std::chrono::floor<std::chrono::seconds>(now - then).count(), 0);
}

}  // namespace

Json cluster_member(const cluster::NodeState& state, domain::Timestamp now) {
    Json member{{"role", cluster::to_string(state.role)},
                {"book", state.book},
                {"node", state.node},
                {"epoch", nullptr},
                {"owner", nullptr},
                {"entries_behind", state.behind},
                {"last_entry_age_seconds", nullptr},
                {"obstacle", nullptr}};
    if (state.owner && state.owner->epoch > 0) {
        member["epoch"] = state.owner->epoch;
        member["owner"] = state.owner->node;
    }
    if (state.last_entry) member["last_entry_age_seconds"] = age_seconds(*state.last_entry, now);
    if (state.obstacle != cluster::Obstacle::none) {
        member["obstacle"] = cluster::to_string(state.obstacle);
    }
    return member;
}

std::vector<engine::Dependency> dependencies_of(const cluster::NodeState& state) {
    return {{"journal", state.reaches_database},
            {"book", state.obstacle == cluster::Obstacle::none}};
}

}  // namespace api
