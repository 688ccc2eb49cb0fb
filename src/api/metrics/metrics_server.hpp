#pragma once

#include "api/metrics/metrics.hpp"
#include "api/metrics/metrics_application.hpp"
#include "api/metrics/options.hpp"
#include "api/metrics/samples.hpp"
#include "net/http_server.hpp"

namespace api::metrics {

// Serves metrics at an address of their own as long as it lives. One request at a time and few
// connections: it never takes much from the main listener.
class MetricsServer {
public:
    // Throws std::runtime_error naming the address and the reason.
    MetricsServer(const MetricsOptions& options, const Metrics& metrics, Samples& samples,
                  ports::Logger& logger, const ports::Clock& clock);

    [[nodiscard]] int port() const { return server_.port(); }

private:
    MetricsApplication application_;
    net::HttpServer server_;
};

}  // namespace api::metrics
