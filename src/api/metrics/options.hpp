#pragma once

#include <string>
#include <vector>

namespace api::metrics {

// The bounds are upper ones, in seconds and rising; +Inf is added (relayer-api 10, 11.2).
struct MetricsOptions {
    using Bounds = std::vector<double>;

    std::string host = "127.0.0.1";  // empty: metrics are not served
    int port = 9898;                 // 0: any free one

    // Whether vote shares are counted in what is shown: who reads how many wait and leave learns
    // when somebody's vote was revealed.
    bool shares = false;

    Bounds http_seconds{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};
    Bounds query_seconds{0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};
    Bounds status_seconds{0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600, 1800, 3600};
    Bounds transaction_seconds{0.01, 0.1, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 5, 10};
    Bounds estimate_seconds{1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 2400};
};

}  // namespace api::metrics
