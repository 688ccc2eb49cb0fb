#include "api/metrics/share_metrics.hpp"

#include <string>
#include <string_view>

#include "api/metrics/labels.hpp"
#include "api/metrics/options.hpp"

namespace api::metrics {

namespace {

const MetricsOptions::Bounds proof_seconds{0.1, 0.5, 1, 2.5, 5, 7.5, 10, 15, 20, 30, 60, 120};

constexpr std::array<std::string_view, 3> outcomes{"proved", "failed", "unreachable"};

// The two with a meaning of their own (share-helper 5.3), and the others by class.
constexpr std::array<std::string_view, 8> statuses{"none", "200", "422", "2xx",
                                                   "3xx",  "4xx", "5xx", "other"};

std::size_t status_place(int http_status) {
    switch (http_status) {
        case 0:
            return 0;
        case 200:
            return 1;
        case 422:
            return 2;
        default:
            break;
    }
    const bool has_class = http_status >= 200 && http_status < 600;
    return has_class ? static_cast<std::size_t>(http_status / 100 + 1) : statuses.size() - 1;
}

// 0 to 9, another one, none.
constexpr std::int64_t code_max = 9;
constexpr std::size_t code_other = code_max + 1;
constexpr std::size_t code_none = code_max + 2;
constexpr std::size_t codes = code_none + 1;

std::size_t code_place(std::optional<std::int64_t> code) {
    if (!code) return code_none;
    return *code >= 0 && *code <= code_max ? static_cast<std::size_t>(*code) : code_other;
}

std::string code_label(std::size_t place) {
    if (place == code_none) return "none";
    return place == code_other ? "other" : std::to_string(place);
}

auto make_replies(prometheus::Registry& registry) {
    auto& family = counters(registry, "posthouse_share_chain_replies_total",
                            "What the vote chain said to reveals, by HTTP status and by the code "
                            "in the reply. none: there was no reply, or no code in it.");
    return [&family](std::size_t index) {
        return &family.Add({{"http_status", std::string(statuses[index / codes])},
                            {"code", code_label(index % codes)}});
    };
}

}  // namespace

ShareMetrics::ShareMetrics(prometheus::Registry& registry)
    : replies_(statuses.size() * codes, make_replies(registry)) {
    auto& proofs = histograms(registry, "posthouse_share_proof_duration_seconds",
                              "How long the proofs of vote shares took, by what came of them.");
    for (std::size_t index = 0; index < outcomes.size(); ++index) {
        proofs_[index] = &proofs.Add({{"outcome", std::string(outcomes[index])}}, proof_seconds);
    }
    attempts_failed_ = &counters(registry, "posthouse_share_attempts_failed_total",
                                 "Tries to reveal a vote share that cost one of its attempts; each "
                                 "but a share's last is repeated.")
                            .Add({});
}

void ShareMetrics::proved(Proving outcome, domain::Nanoseconds took) {
    proofs_[static_cast<std::size_t>(outcome)]->Observe(labels::seconds(took));
}

void ShareMetrics::replied(int http_status, std::optional<std::int64_t> code) {
    replies_[status_place(http_status) * codes + code_place(code)]->Increment();
}

void ShareMetrics::attempts_failed(std::size_t count) {
    attempts_failed_->Increment(static_cast<double>(count));
}

}  // namespace api::metrics
