#include "api/metrics/row_metrics.hpp"

#include <string>

namespace api::metrics {

RowMetrics::RowMetrics(bool shares) {
    auto& rows =
        gauges(registry_, "relayer_request_count",
               shares ? "Stored requests by status. vote_share: the shares of the vote helper."
                      : "Stored requests by status. Without vote shares.");
    for (const domain::Family family : labels::families) {
        if (!labels::is_shown(family, shares)) continue;
        for (const domain::Status status : domain::statuses) {
            rows_[labels::index_of(family)][static_cast<std::size_t>(status)] =
                &rows.Add({{"req_type", labels::req_type(family)},
                           {"status", std::string(domain::to_string(status))}});
        }
    }
    auto& pending = gauges(registry_, "relayer_transaction_pending_gauge",
                           "Requests in tx_in_flight: signed, stored, and without a receipt. Vote "
                           "shares are not in any relayer_transaction metric.");
    for (const domain::Family family : labels::relayer_families) {
        pending_[labels::index_of(family)] =
            &pending.Add({{"transaction_type", labels::transaction_type(family)}});
    }
}

void RowMetrics::add(const store::RowCounts& counts) {
    for (const domain::Kind kind : domain::kinds) {
        for (const domain::Status status : domain::statuses) {
            add(domain::family_of(kind), status, static_cast<double>(counts.at(kind, status)));
        }
    }
    counted_.store(true, std::memory_order_release);
}

void RowMetrics::add(const store::Change& change) {
    const domain::Family family = domain::family_of(change.kind);
    if (change.from) add(family, *change.from, -1);
    if (change.to) add(family, *change.to, 1);
}

void RowMetrics::add(domain::Family family, domain::Status status, double rows) {
    const std::size_t index = labels::index_of(family);
    prometheus::Gauge* const gauge = rows_[index][static_cast<std::size_t>(status)];
    if (gauge == nullptr) return;
    gauge->Increment(rows);
    if (status == domain::Status::tx_in_flight && family != domain::Family::share) {
        pending_[index]->Increment(rows);
    }
}

std::vector<prometheus::MetricFamily> RowMetrics::collect() const {
    if (!counted_.load(std::memory_order_acquire)) return {};
    return registry_.Collect();
}

}  // namespace api::metrics
