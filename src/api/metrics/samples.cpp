#include "api/metrics/samples.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/metrics/labels.hpp"
#include "api/metrics/node_metrics.hpp"
#include "api/metrics/sampled_families.hpp"
#include "domain/status.hpp"
#include "store/errors.hpp"

namespace api::metrics {

using domain::Family;
using domain::Status;
using prometheus::MetricFamily;

namespace {

using Since = std::optional<domain::Timestamp>;

// Seconds from `since` to `now`; 0 when there is nothing, or when it lies ahead.
double age(const Since& since, domain::Timestamp now) {
    return since ? std::max(labels::seconds(now - *since), 0.0) : 0.0;
}

void add_queues(SampledFamilies& families, const engine::Gates::Depths& depths) {
    families.gauge("relayer_queue_size_count", "Requests that wait in a queue.");
    const auto size = [&](const char* queue, std::size_t waiting) {
        families.value(static_cast<double>(waiting), {{"queue_type", queue}});
    };
    size("input_proof_tx_throttler", depths.sending.input_proof);
    size("user_decrypt_tx_throttler", depths.sending.user_decrypt);
    size("public_decrypt_tx_throttler", depths.sending.public_decrypt);
    size("user_decrypt_readiness_throttler", depths.readiness.user_decrypt);
    size("public_decrypt_readiness_throttler", depths.readiness.public_decrypt);
}

void add_oldest(SampledFamilies& families, const store::Backlog& backlog, domain::Timestamp now,
                bool shares) {
    families.gauge(
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
            families.value(age(oldest, now), {{"req_type", labels::req_type(family)},
                                              {"status", std::string(domain::to_string(status))}});
        }
    }
}

void add_due(SampledFamilies& families, const store::Backlog& backlog, const engine::Moment& now,
             bool shares) {
    families.gauge(
        "posthouse_oldest_due_age_seconds",
        std::string("How long the longest overdue request has been due; 0 when nothing is. ") +
            (shares ? "schedule: vote shares past their second, also those in work or in a pause; "
                    : "") +
            "gate: longest in its status of those that wait for a permit or a token; timer: "
            "pauses, leases and deadlines that are over.");
    if (shares) families.value(age(backlog.earliest_scheduled, now.wall), {{"lane", "schedule"}});
    families.value(age(backlog.oldest_at_gate, now.wall), {{"lane", "gate"}});
    families.value(age(backlog.earliest_timer, now.steady), {{"lane", "timer"}});
}

void add_http(SampledFamilies& families, const net::HttpCounts& http) {
    families.gauge("posthouse_http_connections", "Open connections of the main listener.");
    families.value(static_cast<double>(http.connections));
    families.counter("posthouse_http_connections_refused_total", "Connections over a limit.");
    families.value(static_cast<double>(http.connections_refused));
    families.counter("posthouse_http_requests_unreadable_total",
                     "Requests that were no HTTP, too large, or too slow.");
    families.value(static_cast<double>(http.requests_unreadable));
    families.counter("posthouse_http_requests_read_total",
                     "Requests that came in whole, or whose head was enough for an answer.");
    families.value(static_cast<double>(http.requests_read));
    families.counter("posthouse_tls_handshakes_failed_total",
                     "TLS handshakes that came to nothing.");
    families.value(static_cast<double>(http.handshakes_failed));
    families.gauge("posthouse_http_buffered_bytes",
                   "Memory of requests that arrive or are being answered, and of answers that wait "
                   "for their clients, beyond 4 KiB for each.");
    families.value(static_cast<double>(http.bytes_buffered));
}

// One signer has no label; of several each has its address.
void add_signers(SampledFamilies& families, const engine::ChainReadings& chain) {
    std::vector<engine::SignerReadings> all = chain.signers;
    const bool is_alone = all.empty();
    if (is_alone) all.push_back({{}, chain.signer_balance, chain.signer_nonce_distance, {}});
    const auto add = [&](const char* name, const char* help, auto value_of) {
        if (std::ranges::none_of(all, [&](const auto& one) { return value_of(one).has_value(); })) {
            return;
        }
        families.gauge(name, help);
        for (const engine::SignerReadings& one : all) {
            const std::optional<double> value = value_of(one);
            if (!value) continue;
            if (is_alone) {
                families.value(*value);
            } else {
                families.value(*value, {{"account", one.account}});
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

void add_chain(SampledFamilies& families, const engine::ChainReadings& chain) {
    add_signers(families, chain);
    if (chain.head_lag) {
        families.gauge("posthouse_chain_head_lag_blocks",
                       "Blocks between the head of the gateway chain and the last one read.");
        families.value(static_cast<double>(*chain.head_lag));
    }
    if (const auto& most = chain.most_sent_in_a_second) {
        families.gauge("posthouse_chain_sends_per_second_max",
                       "The most transactions that were written to the gateway chain's node within "
                       "one second since the start; what went out again is not counted.");
        const auto of = [&families](Family family, std::uint32_t count) {
            families.value(static_cast<double>(count), {{"req_type", labels::req_type(family)}});
        };
        of(Family::input_proof, most->input_proof);
        of(Family::public_decrypt, most->public_decrypt);
        of(Family::user_decrypt, most->user_decrypt);
    }
}

void add_clients(SampledFamilies& families, const std::vector<ClientActivity>& clients) {
    families.gauge("posthouse_client_requests_in_work",
                   "Requests of a client that were accepted and have not ended. Without vote "
                   "shares.");
    for (const ClientActivity& one : clients) {
        families.value(static_cast<double>(one.in_work), {{"client", one.name}});
    }
    families.counter("posthouse_client_posts_total",
                     "POSTs of the relayer API, by the name of the key and by what was said.");
    for (const ClientActivity& one : clients) {
        for (std::size_t i = 0; i < submission_names.size(); ++i) {
            families.value(
                static_cast<double>(one.since_start.at(i)),
                {{"client", one.name}, {"outcome", std::string(submission_names.at(i))}});
        }
    }
}

}  // namespace

Samples::Samples(const ports::Clock& clock, domain::Milliseconds clock_leap,
                 domain::Milliseconds clock_leap_hold, const MetricsOptions& options,
                 Sources sources)
    : clock_(clock),
      sources_(std::move(sources)),
      shares_(options.shares),
      filtered_clock_(clock, clock_leap, clock_leap_hold) {}

std::vector<MetricFamily> Samples::collect() {
    SampledFamilies families;
    add_queues(families, sources_.depths());
    families.gauge("posthouse_inbox_depth",
                   "New requests and answers of the chain that wait for the next commit.");
    families.value(static_cast<double>(sources_.inbox_size()));
    try {
        const store::Backlog backlog = sources_.backlog();
        const std::lock_guard lock(mutex_);
        const engine::Moment now = filtered_clock_.now();
        add_oldest(families, backlog, now.wall, shares_);
        add_due(families, backlog, now, shares_);
        add_clients(families, sources_.clients(backlog.of_client));
    } catch (const store::StorageError&) {
        // The processor counts and reports what the database does; the rest is wanted all the more.
    }
    add_http(families, sources_.http());
    families.gauge("posthouse_long_polls_waiting", "Polls that wait for the end of their job.");
    families.value(static_cast<double>(sources_.long_polls_waiting()));
    families.counter("posthouse_long_polls_turned_away_total",
                     "Polls that wanted to wait and found no place.");
    families.value(static_cast<double>(sources_.long_polls_turned_away()));
    add_chain(families, sources_.chain());
    if (sources_.node) add_node(families, sources_.node(), clock_.wall());
    add_process(families, sources_.process());
    return families.take();
}

}  // namespace api::metrics
