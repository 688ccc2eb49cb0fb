#include "api/metrics/http_metrics.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace api::metrics {

namespace {

using labels::SeriesIndex;
using prometheus::Labels;

constexpr int status_min = 100;
constexpr int status_max = 599;
constexpr std::size_t statuses = status_max - status_min + 1;
constexpr std::size_t sdks = labels::sdk_names.size() * labels::sdk_versions.size();

constexpr std::array<std::string_view, 3> outcomes{"accepted", "rejected", "host_call_failed"};

Labels labels_of(const SeriesIndex& series) {
    return {{"endpoint", std::string(labels::endpoints[series.endpoint])},
            {"method", std::string(labels::methods[series.method])},
            {"version", std::string(labels::versions[series.version])}};
}

auto make_requests(prometheus::Registry& registry) {
    auto& family =
        counters(registry, "relayer_http_requests_total", "Calls of the relayer API, on arrival.");
    return [&family](std::size_t index) {
        Labels labels = labels_of(SeriesIndex::from(index / sdks));
        const std::size_t sdk = index % sdks;
        labels["relayer_sdk_name"] = labels::sdk_names[sdk / labels::sdk_versions.size()];
        labels["relayer_sdk_version"] = labels::sdk_versions[sdk % labels::sdk_versions.size()];
        return &family.Add(labels);
    };
}

}  // namespace

HttpMetrics::HttpMetrics(prometheus::Registry& registry, const MetricsOptions& options)
    : requests_(SeriesIndex::count * sdks, make_requests(registry)),
      responses_(
          SeriesIndex::count * statuses,
          [&counts =
               counters(registry, "relayer_http_responses_total", "Answers of the relayer API."),
           &times = histograms(registry, "relayer_http_request_duration_seconds",
                               "From the arrival of a call to its answer; long polls wait in it."),
           bounds = options.http_seconds](std::size_t index) {
              Labels labels = labels_of(SeriesIndex::from(index / statuses));
              labels["status"] = std::to_string(index % statuses + status_min);
              return Answered{&counts.Add(labels), &times.Add(labels, bounds)};
          }) {
    auto& estimates =
        histograms(registry, "relayer_retry_after_raw_eta_seconds",
                   "Estimates behind the Retry-After of a POST's 202, before margin and clamp.");
    auto& queries = histograms(
        registry, "relayer_db_query_duration_seconds",
        "Look-ups of polls in the database. All requests share one table here: the label tells "
        "what was polled. For writes see posthouse_commit_duration_seconds.");
    auto& errors =
        counters(registry, "relayer_db_errors_total",
                 "Look-ups of polls that failed. For writes see posthouse_storage_errors_total.");
    for (const domain::Family family : labels::relayer_families) {
        const std::size_t index = labels::index_of(family);
        estimates_[index] =
            &estimates.Add({{"req_type", labels::req_type(family)}}, options.estimate_seconds);
        const Labels table{{"table", labels::table(family)}};
        queries_[index] = &queries.Add(table, options.query_seconds);
        query_errors_[index] = &errors.Add(table);
    }
    auto& signatures = counters(registry, "relayer_user_decrypt_signature_precheck_total",
                                "Signatures of unified user decryptions checked on arrival.");
    for (std::size_t index = 0; index < outcomes.size(); ++index) {
        signatures_[index] = &signatures.Add({{"outcome", std::string(outcomes[index])}});
    }
}

void HttpMetrics::arrived(const Route& route, const net::HttpRequest& request) {
    const auto series = labels::series_of(route);
    if (!series) return;
    const std::size_t name = labels::sdk_name_of(request.header("zama-sdk-name"));
    const std::size_t version = labels::sdk_version_of(request.header("zama-sdk-version"));
    const std::size_t sdk = name * labels::sdk_versions.size() + version;
    requests_[series->number() * sdks + sdk]->Increment();
}

void HttpMetrics::answered(const Route& route, int status, domain::Nanoseconds took) {
    const auto series = labels::series_of(route);
    if (!series) return;
    const int bounded = std::clamp(status, status_min, status_max);
    const Answered& answered =
        responses_[series->number() * statuses + static_cast<std::size_t>(bounded - status_min)];
    answered.count->Increment();
    answered.seconds->Observe(labels::seconds(took));
}

void HttpMetrics::estimated(domain::Family family, std::uint64_t raw_eta_ms) {
    if (family == domain::Family::share) return;
    estimates_[labels::index_of(family)]->Observe(static_cast<double>(raw_eta_ms) / 1'000);
}

void HttpMetrics::signature_checked(SignatureOutcome outcome) {
    signatures_[static_cast<std::size_t>(outcome)]->Increment();
}

void HttpMetrics::looked_up(domain::Family family, domain::Nanoseconds took, bool failed) {
    if (family == domain::Family::share) return;
    const std::size_t index = labels::index_of(family);
    queries_[index]->Observe(labels::seconds(took));
    if (failed) query_errors_[index]->Increment();
}

}  // namespace api::metrics
