#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "api/metrics/families.hpp"
#include "api/metrics/slots.hpp"
#include "domain/time.hpp"
#include "engine/vote_chain.hpp"

namespace api::metrics {

// How reveals go: proofs, replies of the vote chain, tries that came to nothing. Shown only where
// vote shares may be counted (MetricsOptions::shares). Any thread.
class ShareMetrics : public engine::VoteObserver {
public:
    explicit ShareMetrics(prometheus::Registry& registry);

    void proved(Proving outcome, domain::Nanoseconds took) override;
    void replied(int http_status, std::optional<std::int64_t> code) override;
    // Each cost a share one of its attempts.
    void attempts_failed(std::size_t count);

private:
    std::array<prometheus::Histogram*, 3> proofs_{};
    Slots<prometheus::Counter*> replies_;
    prometheus::Counter* attempts_failed_ = nullptr;
};

}  // namespace api::metrics
