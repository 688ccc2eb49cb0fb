#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "api/exposition.hpp"
#include "api/metrics/metrics.hpp"
#include "api/metrics/samples.hpp"

namespace api_test {

inline const api::metrics::MetricsOptions with_shares{.shares = true};

// Metrics whose sources say what the test wants.
struct MetricsWorld {
    explicit MetricsWorld(const ports::Clock& clock,
                          const api::metrics::MetricsOptions& options = {})
        : metrics(options, {"1.2.3", "abcdef-clean"}),
          samples(clock, std::chrono::minutes{1}, std::chrono::minutes{5}, options,
                  {.depths = [this] { return depths; },
                   .inbox_size = [this] { return inbox_size; },
                   .backlog = [this] { return backlog(); },
                   .http = [this] { return http; },
                   .long_polls_waiting = [] { return std::size_t{3}; },
                   .long_polls_turned_away = [] { return std::uint64_t{4}; },
                   .chain = [this] { return chain; },
                   .process = [this] { return process; },
                   .clients = [this](const auto&) { return clients; }}) {}

    [[nodiscard]] Exposition read() {
        return Exposition{api::metrics::exposition(metrics, samples)};
    }

    engine::Gates::Depths depths{};
    std::size_t inbox_size = 0;
    std::function<store::Backlog()> backlog = [] { return store::Backlog{}; };
    net::HttpCounts http{};
    engine::ChainReadings chain{};
    std::vector<api::ClientActivity> clients{};
    api::metrics::ProcessFacts process{1'000, 12, 1'780'000'000};
    api::metrics::Metrics metrics;
    api::metrics::Samples samples;
};

}  // namespace api_test
