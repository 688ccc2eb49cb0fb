#pragma once

#include <array>
#include <cstdint>

#include "api/http_observer.hpp"
#include "api/metrics/families.hpp"
#include "api/metrics/labels.hpp"
#include "api/metrics/options.hpp"
#include "api/metrics/slots.hpp"

namespace api::metrics {

// What the HTTP interface does (relayer-api 10). Any thread.
class HttpMetrics : public HttpObserver {
public:
    HttpMetrics(prometheus::Registry& registry, const MetricsOptions& options);

    void arrived(const Route& route, const net::HttpRequest& request) override;
    void answered(const Route& route, int status, domain::Nanoseconds took) override;
    void estimated(domain::Family family, std::uint64_t raw_eta_ms) override;
    void signature_checked(SignatureOutcome outcome) override;
    void looked_up(domain::Family family, domain::Nanoseconds took, bool failed) override;

private:
    struct Answered {
        prometheus::Counter* count = nullptr;
        prometheus::Histogram* seconds = nullptr;
    };
    static constexpr std::size_t relayer_families = labels::relayer_families.size();

    Slots<prometheus::Counter*> requests_;
    Slots<Answered> responses_;
    std::array<prometheus::Histogram*, relayer_families> estimates_{};
    std::array<prometheus::Histogram*, relayer_families> queries_{};
    std::array<prometheus::Counter*, relayer_families> query_errors_{};
    std::array<prometheus::Counter*, 3> signatures_{};
};

}  // namespace api::metrics
