#include "api/metrics/metrics_server.hpp"

#include <chrono>
#include <utility>

namespace api::metrics {

namespace {

net::HttpOptions http_options(const MetricsOptions& options) {
    net::HttpOptions http;
    http.host = options.host;
    http.port = options.port;
    http.address_setting = "metrics.endpoint";
    http.workers = 1;
    http.head_bytes_max = std::size_t{16} << 10U;
    http.body_bytes_max = std::size_t{1} << 10U;
    http.buffered_bytes_max = std::size_t{8} << 20U;  // some answers that are taken slowly
    http.request_deadline = std::chrono::seconds{10};
    // Within what the main listener leaves of the limit of open files.
    http.connections_max = 64;
    http.makes_room = true;
    http.connections_per_address_max = 64;
    http.descriptors_reserved = 0;
    return http;
}

}  // namespace

MetricsServer::MetricsServer(const MetricsOptions& options, std::function<std::string()> text,
                             ports::Logger& logger, const ports::Clock& clock)
    : application_(std::move(text), logger, clock), server_(http_options(options), application_) {
    server_.start();
}

std::unique_ptr<MetricsServer> serve_metrics(const MetricsOptions& options,
                                             std::function<std::string()> text,
                                             ports::Logger& logger, const ports::Clock& clock) {
    if (options.host.empty()) return nullptr;
    auto server = std::make_unique<MetricsServer>(options, std::move(text), logger, clock);
    logger.write(ports::LogLevel::info,
                 "listening metrics=" + options.host + ":" + std::to_string(server->port()));
    return server;
}

}  // namespace api::metrics
