#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/http_observer.hpp"
#include "api/metrics/engine_metrics.hpp"
#include "api/metrics/families.hpp"
#include "api/metrics/http_metrics.hpp"
#include "api/metrics/options.hpp"
#include "api/metrics/row_metrics.hpp"
#include "api/metrics/samples.hpp"
#include "engine/observer.hpp"
#include "engine/vote_chain.hpp"
#include "store/row_counter.hpp"

namespace api::metrics {

struct BuildFacts {
    std::string version;
    std::string build;
};

// Everything that is counted as it happens: what the engine and the HTTP interface report, under
// the names of the reference (relayer-api 10) and some of our own, which begin with `posthouse_`.
// An event costs a few atomic additions: series are looked up once and kept.
class Metrics : public engine::Observer, public engine::VoteObserver, public HttpObserver {
public:
    // `clients`: nothing: what they post is not counted by client.
    Metrics(const MetricsOptions& options, const BuildFacts& build,
            ClientTraffic* clients = nullptr);

    // Any thread, once: what was stored when the first step was still to come. The counts of
    // requests are shown from then on.
    void add(const store::RowCounts& counts) { rows_.add(counts); }

    // Any thread.
    [[nodiscard]] std::vector<prometheus::MetricFamily> collect() const;

    void recovered(const engine::recovery::Report& report) override { engine_.recovered(report); }
    void stepped(const engine::StepFacts& facts) override { engine_.stepped(facts); }
    void storage_failed() override { engine_.storage_failed(); }

    void proved(Proving outcome, domain::Nanoseconds took) override {
        if (auto* shares = engine_.shares()) shares->proved(outcome, took);
    }
    void replied(int http_status, std::optional<std::int64_t> code) override {
        if (auto* shares = engine_.shares()) shares->replied(http_status, code);
    }

    void arrived(const Route& route, const net::HttpRequest& request) override {
        http_.arrived(route, request);
    }
    void answered(const Route& route, int status, domain::Nanoseconds took) override {
        http_.answered(route, status, took);
    }
    void submitted(std::int64_t client, Submission submission) override {
        if (clients_ != nullptr) clients_->count(client, submission);
    }
    void estimated(domain::Family family, std::uint64_t raw_eta_ms) override {
        http_.estimated(family, raw_eta_ms);
    }
    void signature_checked(SignatureOutcome outcome) override { http_.signature_checked(outcome); }
    void looked_up(domain::Family family, domain::Nanoseconds took, bool failed) override {
        http_.looked_up(family, took, failed);
    }

private:
    ClientTraffic* const clients_;
    prometheus::Registry registry_;
    RowMetrics rows_;
    HttpMetrics http_;
    EngineMetrics engine_;
};

// All of it in the Prometheus text format 0.0.4. Any thread.
[[nodiscard]] std::string exposition(const Metrics& metrics, Samples& samples);
[[nodiscard]] std::string as_text(std::vector<prometheus::MetricFamily> all);

}  // namespace api::metrics
