#include "api/metrics/samples.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/metrics/labels.hpp"
#include "domain/status.hpp"
#include "store/errors.hpp"

namespace api::metrics {

using domain::Family;
using domain::Status;
using prometheus::MetricFamily;
using prometheus::MetricType;

namespace {

using Labels = std::vector<prometheus::ClientMetric::Label>;

// Families as they stand in the answer.
class Exposition {
public:
    void gauge(std::string name, std::string help) {
        open(MetricType::Gauge, std::move(name), std::move(help));
    }
    void counter(std::string name, std::string help) {
        open(MetricType::Counter, std::move(name), std::move(help));
    }
    // Of the family opened last.
    void value(double value, Labels labels = {}) {
        prometheus::ClientMetric metric;
        metric.label = std::move(labels);
        (families_.back().type == MetricType::Gauge ? metric.gauge.value : metric.counter.value) =
            value;
        families_.back().metric.push_back(std::move(metric));
    }

    [[nodiscard]] std::vector<MetricFamily> take() { return std::move(families_); }

private:
    void open(MetricType type, std::string name, std::string help) {
        families_.push_back({std::move(name), std::move(help), type, {}});
    }

    std::vector<MetricFamily> families_;
};

using Since = std::optional<domain::Timestamp>;

// Seconds from `since` to `now`; 0 when there is nothing, or when it lies ahead.
double age(const Since& since, domain::Timestamp now) {
    return since ? std::max(labels::seconds(now - *since), 0.0) : 0.0;
}

void add_queues(Exposition& exposition, const engine::Gates::Depths& depths) {
    exposition.gauge("relayer_queue_size_count", "Requests that wait in a queue.");
    const auto size = [&](const char* queue, std::size_t waiting) {
        exposition.value(static_cast<double>(waiting), {{"queue_type", queue}});
    };
    size("input_proof_tx_throttler", depths.sending.input_proof);
    size("user_decrypt_tx_throttler", depths.sending.user_decrypt);
    size("public_decrypt_tx_throttler", depths.sending.public_decrypt);
    size("user_decrypt_readiness_throttler", depths.readiness.user_decrypt);
    size("public_decrypt_readiness_throttler", depths.readiness.public_decrypt);
}

void add_oldest(Exposition& exposition, const store::Backlog& backlog, domain::Timestamp now,
                bool shares) {
    exposition.gauge(
        "posthouse_oldest_age_seconds",
        std::string("How long the request longest in a status has been in it; 0 when there "
                    "is none. ") +
            (shares ? "Vote shares that wait for their time do not count."
                    : "Without vote shares."));
    for (const Family family : labels::families) {
        if (!labels::is_shown(family, shares)) continue;
        for (const Status status : domain::statuses) {
            const bool never = family == Family::input_proof && status == Status::queued;
            if (domain::is_terminal(status) || never) continue;
            Since oldest;
            for (const domain::Kind kind : domain::kinds) {
                const Since& since = backlog.oldest.at(kind, status);
                if (domain::family_of(kind) != family || !since) continue;
                oldest = std::min(oldest.value_or(*since), *since);
            }
            exposition.value(age(oldest, now),
                             {{"req_type", labels::req_type(family)},
                              {"status", std::string(domain::to_string(status))}});
        }
    }
}

void add_due(Exposition& exposition, const store::Backlog& backlog, const engine::Moment& now,
             bool shares) {
    exposition.gauge(
        "posthouse_oldest_due_age_seconds",
        std::string("How long the longest overdue request has been due; 0 when nothing is. ") +
            (shares ? "schedule: vote shares past their second, also those in work or in a pause; "
                    : "") +
            "gate: longest in its status of those that wait for a permit or a token; timer: "
            "pauses, leases and deadlines that are over.");
    if (shares) exposition.value(age(backlog.earliest_scheduled, now.wall), {{"lane", "schedule"}});
    exposition.value(age(backlog.oldest_at_gate, now.wall), {{"lane", "gate"}});
    exposition.value(age(backlog.earliest_timer, now.steady), {{"lane", "timer"}});
}

void add_http(Exposition& exposition, const net::HttpCounts& http) {
    exposition.gauge("posthouse_http_connections", "Open connections of the main listener.");
    exposition.value(static_cast<double>(http.connections));
    exposition.counter("posthouse_http_connections_refused_total", "Connections over a limit.");
    exposition.value(static_cast<double>(http.connections_refused));
    exposition.counter("posthouse_http_requests_unreadable_total",
                       "Requests that were no HTTP, too large, or too slow.");
    exposition.value(static_cast<double>(http.requests_unreadable));
    exposition.counter("posthouse_http_requests_read_total",
                       "Requests that came in whole, or whose head was enough for an answer.");
    exposition.value(static_cast<double>(http.requests_read));
    exposition.counter("posthouse_tls_handshakes_failed_total",
                       "TLS handshakes that came to nothing.");
    exposition.value(static_cast<double>(http.handshakes_failed));
    exposition.gauge(
        "posthouse_http_buffered_bytes",
        "Memory of requests that arrive or are being answered, beyond 4 KiB for each.");
    exposition.value(static_cast<double>(http.bytes_buffered));
}

// One signer has no label; of several each has its address.
void add_signers(Exposition& exposition, const engine::ChainReadings& chain) {
    std::vector<engine::SignerReadings> all = chain.signers;
    const bool is_alone = all.empty();
    if (is_alone) all.push_back({{}, chain.signer_balance, chain.signer_nonce_distance, {}});
    const auto add = [&](const char* name, const char* help, auto value_of) {
        if (std::ranges::none_of(all, [&](const auto& one) { return value_of(one).has_value(); })) {
            return;
        }
        exposition.gauge(name, help);
        for (const engine::SignerReadings& one : all) {
            const std::optional<double> value = value_of(one);
            if (!value) continue;
            if (is_alone) {
                exposition.value(*value);
            } else {
                exposition.value(*value, {{"account", one.account}});
            }
        }
    };
    add("posthouse_signer_balance_ether",
        "What the signer can spend on the gateway chain, in 10^18 of its smallest unit.",
        [](const auto& one) { return one.balance; });
    add("posthouse_signer_nonce_distance",
        "Transactions of the signer that were sent and are not included.",
        [](const auto& one) -> std::optional<double> {
            if (!one.nonce_distance) return std::nullopt;
            return static_cast<double>(*one.nonce_distance);
        });
    if (is_alone) return;
    add("posthouse_signer_healthy",
        "1 while transactions can be signed with the key and go out; where there are several keys.",
        [](const auto& one) { return std::optional{one.problem ? 0.0 : 1.0}; });
}

void add_chain(Exposition& exposition, const engine::ChainReadings& chain) {
    add_signers(exposition, chain);
    if (chain.head_lag) {
        exposition.gauge("posthouse_chain_head_lag_blocks",
                         "Blocks between the head of the gateway chain and the last one read.");
        exposition.value(static_cast<double>(*chain.head_lag));
    }
}

void add_clients(Exposition& exposition, const std::vector<ClientActivity>& clients) {
    exposition.gauge("posthouse_client_requests_in_work",
                     "Requests of a client that were accepted and have not ended. Without vote "
                     "shares.");
    for (const ClientActivity& one : clients) {
        exposition.value(static_cast<double>(one.in_work), {{"client", one.name}});
    }
    exposition.counter("posthouse_client_posts_total",
                       "POSTs of the relayer API, by the name of the key and by what was said.");
    for (const ClientActivity& one : clients) {
        for (std::size_t i = 0; i < submission_names.size(); ++i) {
            exposition.value(
                static_cast<double>(one.since_start.at(i)),
                {{"client", one.name}, {"outcome", std::string(submission_names.at(i))}});
        }
    }
}

void add_process(Exposition& exposition, const ProcessFacts& process) {
    const auto add = [&](const char* name, const char* help, std::optional<double> value) {
        if (!value) return;
        exposition.gauge(name, help);
        exposition.value(*value);
    };
    add("process_resident_memory_bytes", "Resident memory size in bytes.", process.resident_bytes);
    add("process_open_fds", "Number of open file descriptors.", process.open_descriptors);
    add("process_start_time_seconds", "Start time of the process since unix epoch in seconds.",
        process.start_unix_seconds);
}

}  // namespace

Samples::Samples(const ports::Clock& clock, domain::Milliseconds clock_leap,
                 domain::Milliseconds clock_leap_hold, const MetricsOptions& options,
                 Sources sources)
    : sources_(std::move(sources)),
      shares_(options.shares),
      filtered_clock_(clock, clock_leap, clock_leap_hold) {}

std::vector<MetricFamily> Samples::collect() {
    Exposition exposition;
    add_queues(exposition, sources_.depths());
    exposition.gauge("posthouse_inbox_depth",
                     "New requests and answers of the chain that wait for the next commit.");
    exposition.value(static_cast<double>(sources_.inbox_size()));
    try {
        const store::Backlog backlog = sources_.backlog();
        const std::lock_guard lock(mutex_);
        const engine::Moment now = filtered_clock_.now();
        add_oldest(exposition, backlog, now.wall, shares_);
        add_due(exposition, backlog, now, shares_);
        add_clients(exposition, sources_.clients(backlog.of_client));
    } catch (const store::StorageError&) {
        // The processor counts and reports what the database does; the rest is wanted all the more.
    }
    add_http(exposition, sources_.http());
    exposition.gauge("posthouse_long_polls_waiting", "Polls that wait for the end of their job.");
    exposition.value(static_cast<double>(sources_.long_polls_waiting()));
    exposition.counter("posthouse_long_polls_turned_away_total",
                       "Polls that wanted to wait and found no place.");
    exposition.value(static_cast<double>(sources_.long_polls_turned_away()));
    add_chain(exposition, sources_.chain());
    add_process(exposition, sources_.process());
    return exposition.take();
}

}  // namespace api::metrics
