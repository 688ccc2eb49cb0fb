#include "api/metrics/metrics_application.hpp"

#include <exception>
#include <string_view>
#include <utility>

namespace api {

namespace {

constexpr std::string_view metrics_path = "/metrics";
constexpr std::string_view health_path = "/health";

HttpResponse empty(int status) {
    return {status, {}, {}, {}};
}

HttpResponse plain(int status, std::string_view text) {
    return {status, {}, std::string(text), "text/plain; charset=utf-8"};
}

}  // namespace

MetricsApplication::MetricsApplication(std::function<std::string()> text, engine::Journal& journal,
                                       const engine::Clock& clock)
    : text_(std::move(text)), trouble_("metrics_failed", journal, clock) {}

std::optional<HttpResponse> MetricsApplication::before_body(const HttpRequest& head) {
    if (head.path != metrics_path && head.path != health_path) return empty(404);
    if (head.method == "GET" || head.method == "HEAD") return {};
    HttpResponse response = empty(405);
    response.headers.emplace_back("Allow", "GET, HEAD");
    return response;
}

HttpResponse MetricsApplication::handle(const HttpRequest& request) {
    if (auto early = before_body(request)) return *std::move(early);
    if (request.path == health_path) return empty(200);
    try {
        return {200, {}, text_(), "text/plain; version=0.0.4; charset=utf-8"};
    } catch (const std::exception& error) {
        trouble_.write("metrics", error.what());
        return failed(request);
    }
}

HttpResponse MetricsApplication::unreadable(const HttpRequest&, HttpProblem problem) {
    HttpResponse response = plain(status_of(problem), text_of(problem));
    if (response.status == 503) response.headers.emplace_back("Retry-After", "1");
    return response;
}

HttpResponse MetricsApplication::failed(const HttpRequest&) {
    return plain(500, "Failed to encode metrics");
}

}  // namespace api
