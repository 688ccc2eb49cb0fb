#pragma once

#include <prometheus/metric_family.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "api/client_traffic.hpp"
#include "api/metrics/options.hpp"
#include "api/metrics/process_facts.hpp"
#include "cluster/node_state.hpp"
#include "engine/filtered_clock.hpp"
#include "engine/gates.hpp"
#include "engine/gateway.hpp"
#include "net/http_server.hpp"
#include "ports/clock.hpp"
#include "store/reader.hpp"

namespace api::metrics {

// Where a scrape looks. Each is called by the scraping thread.
struct Sources {
    std::function<engine::Gates::Depths()> depths;
    std::function<std::size_t()> inbox_size;
    std::function<store::Backlog()> backlog;
    std::function<net::HttpCounts()> http;
    std::function<std::size_t()> long_polls_waiting;
    std::function<std::uint64_t()> long_polls_turned_away;
    std::function<engine::ChainReadings()> chain;
    std::function<ProcessFacts()> process;
    // With what each client has in work.
    std::function<std::vector<ClientActivity>(const std::map<std::int64_t, std::uint64_t>&)>
        clients;
    std::function<cluster::NodeState()> node{};  // empty: a single machine
};

// What is looked at when somebody asks instead of being counted as it happens: depths, ages and the
// state of the machine. Any thread.
class Samples {
public:
    // The timeline judges clock leaps as the processor does, so that the same rows count as due.
    // Of vote shares only what the options allow.
    Samples(const ports::Clock& clock, domain::Milliseconds clock_leap,
            domain::Milliseconds clock_leap_hold, const MetricsOptions& options, Sources sources);

    // While the database can not be read its metrics are left out.
    [[nodiscard]] std::vector<prometheus::MetricFamily> collect();

private:
    const ports::Clock& clock_;
    const Sources sources_;
    const bool shares_;
    std::mutex mutex_;  // guards the timeline
    engine::FilteredClock filtered_clock_;
};

}  // namespace api::metrics
