#pragma once

#include <array>
#include <optional>

#include "api/metrics/families.hpp"
#include "api/metrics/labels.hpp"
#include "api/metrics/options.hpp"
#include "api/metrics/row_metrics.hpp"
#include "api/metrics/share_metrics.hpp"
#include "api/metrics/transaction_metrics.hpp"
#include "engine/observer.hpp"

namespace api::metrics {

// What the committed steps of the processor did. Processor thread.
class EngineMetrics : public engine::Observer {
public:
    EngineMetrics(prometheus::Registry& registry, RowMetrics& rows, const MetricsOptions& options);

    void recovered(const engine::recovery::Report& report) override;
    void stepped(const engine::StepFacts& facts) override;
    void storage_failed() override;

    // Nothing: vote shares are not counted. Any thread.
    [[nodiscard]] ShareMetrics* shares() { return shares_ ? &*shares_ : nullptr; }

private:
    static constexpr std::size_t lanes = 3;

    void moved(const store::Change& change);
    void committed(const engine::StepFacts& facts);

    prometheus::Registry& registry_;
    RowMetrics& rows_;
    TransactionMetrics transactions_;
    std::optional<ShareMetrics> shares_;
    // Nothing for what is not shown, for statuses a family does not have, and for those nothing
    // leaves.
    std::array<std::array<prometheus::Histogram*, domain::statuses.size()>, labels::families.size()>
        durations_{};
    std::array<prometheus::Histogram*, lanes> lateness_{};
    prometheus::Histogram* commit_seconds_ = nullptr;
    prometheus::Histogram* batch_ = nullptr;
    prometheus::Gauge* wal_bytes_ = nullptr;
    prometheus::Counter* storage_errors_ = nullptr;
    prometheus::Counter* rounds_closed_ = nullptr;
    prometheus::Counter* answers_reorganised_ = nullptr;
};

}  // namespace api::metrics
