#pragma once

#include <prometheus/metric_family.h>

#include <array>
#include <atomic>
#include <vector>

#include "api/metrics/families.hpp"
#include "api/metrics/labels.hpp"
#include "domain/status.hpp"
#include "store/row_counter.hpp"

namespace api::metrics {

// How many requests stand in each status: a count plus every change since its moment, in whatever
// order the two come. Until the count is in, nothing is shown rather than something wrong. Any
// thread.
class RowMetrics {
public:
    // `shares`: the rows of vote shares are shown too.
    explicit RowMetrics(bool shares);

    void add(const store::RowCounts& counts);  // once
    void add(const store::Change& change);

    [[nodiscard]] std::vector<prometheus::MetricFamily> collect() const;

private:
    void add(domain::Family family, domain::Status status, double rows);

    prometheus::Registry registry_;
    // Nothing for families that are not shown.
    std::array<std::array<prometheus::Gauge*, domain::statuses.size()>, labels::families.size()>
        rows_{};
    std::array<prometheus::Gauge*, labels::relayer_families.size()> pending_{};
    std::atomic<bool> counted_{false};
};

}  // namespace api::metrics
