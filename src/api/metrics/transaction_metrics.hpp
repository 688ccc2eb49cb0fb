#pragma once

#include <array>

#include "api/metrics/families.hpp"
#include "api/metrics/labels.hpp"
#include "api/metrics/options.hpp"
#include "store/rows.hpp"

namespace api::metrics {

// The transactions of the relayer's families, read off the moves of their requests (relayer-api
// 10). Vote shares are none of them: their chain, their retries and their failures are different,
// and dashboards made for the reference must not see them. One thread.
class TransactionMetrics {
public:
    TransactionMetrics(prometheus::Registry& registry, const MetricsOptions& options);

    void add(const store::Change& change);
    // A send or a preparation met trouble on the way.
    void unreachable(domain::Family family);

private:
    struct Outcome {
        prometheus::Counter* count = nullptr;
        prometheus::Histogram* seconds = nullptr;
    };
    struct OfFamily {
        Outcome confirmed;
        Outcome failed;
        std::array<prometheus::Counter*, labels::revert_categories.size()> reverted{};
        prometheus::Counter* reverted_acl = nullptr;
    };

    void failed(OfFamily& of, const store::Change& change);

    std::array<OfFamily, labels::relayer_families.size()> of_{};
    // Nothing for families that are not shown.
    std::array<prometheus::Counter*, labels::families.size()> unreachable_{};
    prometheus::Counter* transport_error_ = nullptr;
    prometheus::Counter* max_retries_exceeded_ = nullptr;
    prometheus::Counter* invalid_address_ = nullptr;
    prometheus::Counter* rpc_error_ = nullptr;
    prometheus::Counter* unknown_error_ = nullptr;
};

}  // namespace api::metrics
