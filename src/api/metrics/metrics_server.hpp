#pragma once

#include <functional>
#include <memory>
#include <string>

#include "api/metrics/metrics_application.hpp"
#include "api/metrics/options.hpp"
#include "net/http_server.hpp"

namespace api::metrics {

// Serves metrics at an address of their own as long as it lives. One request at a time and few
// connections: it never takes much from the main listener.
class MetricsServer {
public:
    // Throws std::runtime_error naming the address and the reason.
    // `text` makes the answer; any thread.
    MetricsServer(const MetricsOptions& options, std::function<std::string()> text,
                  ports::Logger& logger, const ports::Clock& clock);

    [[nodiscard]] int port() const { return server_.port(); }

private:
    MetricsApplication application_;
    net::HttpServer server_;
};

// The same, with a line in the log; null when metrics are not wanted.
[[nodiscard]] std::unique_ptr<MetricsServer> serve_metrics(const MetricsOptions& options,
                                                           std::function<std::string()> text,
                                                           ports::Logger& logger,
                                                           const ports::Clock& clock);

}  // namespace api::metrics
