#include "api/metrics/metrics_application.hpp"

#include <exception>
#include <string_view>
#include <utility>

namespace api::metrics {

namespace {

constexpr std::string_view metrics_path = "/metrics";
constexpr std::string_view health_path = "/health";

net::HttpResponse empty(int status) {
    return {status, {}, {}, {}};
}

net::HttpResponse plain(int status, std::string_view text) {
    return {status, {}, std::string(text), "text/plain; charset=utf-8"};
}

}  // namespace

MetricsApplication::MetricsApplication(std::function<std::string()> text, ports::Logger& logger,
                                       const ports::Clock& clock)
    : text_(std::move(text)), problem_("metrics_failed", logger, clock) {}

net::HeadVerdict MetricsApplication::before_body(const net::HttpRequest& head) {
    return {.answer = early_answer(head)};
}

std::optional<net::HttpResponse> MetricsApplication::early_answer(
    const net::HttpRequest& head) const {
    if (head.path != metrics_path && head.path != health_path) return empty(404);
    if (head.method == "GET" || head.method == "HEAD") return {};
    net::HttpResponse response = empty(405);
    response.headers.emplace_back("Allow", "GET, HEAD");
    return response;
}

net::HttpResponse MetricsApplication::handle(const net::HttpRequest& request) {
    if (auto early = early_answer(request)) return *std::move(early);
    if (request.path == health_path) return empty(200);
    try {
        return {200, {}, text_(), "text/plain; version=0.0.4; charset=utf-8"};
    } catch (const std::exception& error) {
        problem_.write("metrics", error.what());
        return failed(request);
    }
}

net::HttpResponse MetricsApplication::unreadable(const net::HttpRequest&,
                                                 net::HttpProblem problem) {
    net::HttpResponse response = plain(net::status_of(problem), net::text_of(problem));
    if (response.status == 503) response.headers.emplace_back("Retry-After", "1");
    return response;
}

net::HttpResponse MetricsApplication::failed(const net::HttpRequest&) {
    return plain(500, "Failed to encode metrics");
}

}  // namespace api::metrics
