#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api/admin/recent_rates.hpp"
#include "api/client_traffic.hpp"
#include "cluster/node_state.hpp"
#include "engine/gates.hpp"
#include "engine/gateway.hpp"
#include "engine/health.hpp"
#include "net/http_message.hpp"
#include "ports/clock.hpp"
#include "store/reader.hpp"

namespace api::admin {

// Where the status looks in a process that runs. Each is called by the asking thread.
struct LiveSources {
    std::function<engine::Gates::Depths()> depths;
    std::function<engine::Tuning()> tuning;
    std::function<std::vector<engine::Dependency>()> dependencies;
    std::function<std::optional<std::string>()> chain_problem;
    std::function<engine::ChainReadings()> chain;
    std::function<std::vector<domain::Family>()> paused;
    std::function<std::string_view()> log_level;
    const RecentRates& rates;
    const ClientTraffic& clients;
    domain::Monotonic started;
};

struct StatusSources {
    const ports::Clock& clock;
    std::string version;
    std::string role;          // one line: `relayer of the embedded chain` …
    bool with_shares = false;  // helper.expose_timing
    std::filesystem::path directory;
    std::function<store::Backlog()> backlog;
    std::function<std::string(std::int64_t)> client_name;  // empty: none is known by this id
    std::optional<LiveSources> live{};           // nothing: no process runs, or a node that follows
    std::function<cluster::NodeState()> node{};  // empty: a single machine, or no process
};

// GET /admin/status: one screen about everything. Throws store::StorageError.
[[nodiscard]] net::HttpResponse status_answer(const StatusSources& sources);

}  // namespace api::admin
