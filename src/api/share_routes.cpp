#include "api/share_routes.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include "api/envelope.hpp"

namespace api {

namespace {

// Each holds a connection and a share in memory.
constexpr std::size_t submit_lookups_max = 256;
constexpr std::size_t query_lookups_max = 256;
constexpr std::size_t tree_lookups_max = 2;

bool announces_more_than(std::size_t bytes_max, const net::HttpRequest& head) {
    const auto value = head.header("Content-Length");
    if (!value) return false;
    std::uint64_t bytes = 0;
    const auto read = std::from_chars(value->data(), value->data() + value->size(), bytes);
    return read.ec == std::errc::result_out_of_range || bytes > bytes_max;
}

// A wallet's name for one try to hand in a share; nothing when it is not the only one or malformed.
std::optional<std::string_view> attempt_of_share(const net::HttpRequest& head) {
    const std::optional<RouteMatch> match = find_route(head.method, head.path);
    if (!match || !match->method_fits || match->route->action != Action::share) return {};
    std::optional<std::string_view> attempt;
    for (const net::HttpHeader& header : head.headers) {
        if (!net::equal_ignoring_case(header.name, "X-Vote-Ingress-Attempt-V1")) continue;
        if (attempt) return {};
        attempt = header.value;
    }
    const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
    const bool is_token =
        attempt && attempt->size() == 64 && std::ranges::all_of(*attempt, is_digit);
    return is_token ? attempt : std::nullopt;
}

std::string_view stage_of(Action action) {
    switch (action) {
        case Action::share_status:
            return "nullifier_check";
        case Action::helper_status:
            return "tree_status";
        case Action::queue_status:
            return "queue_status";
        default:
            return "enqueue";
    }
}

}  // namespace

ShareRoutes::ShareRoutes(const Options& options, const Ports& ports)
    : options_(options),
      answers_(options, ports.logger, ports.clock),
      submitter_(options, ports, answers_, submit_lookups_),
      queries_(ports, answers_, query_lookups_, tree_lookups_),
      submit_lookups_(ports.share_lookups, ports.clock, submit_lookups_max),
      query_lookups_(ports.share_queries, ports.clock, query_lookups_max),
      tree_lookups_(ports.tree_queries, ports.clock, tree_lookups_max) {}

bool ShareRoutes::is_hidden(const Route& route) const {
    return route.action == Action::queue_status && !options_.share_expose_queue_status;
}

std::optional<net::HttpResponse> ShareRoutes::before_body(const Route& route,
                                                          const net::HttpRequest& head,
                                                          bool admitted) const {
    if (options_.share_disable) return answers_.unavailable();
    if (!admitted) return unauthorized_answer();
    if (route.action != Action::share) return {};
    if (announces_more_than(options_.share_body_bytes_max, head)) {
        return share_error(400, too_large(options_.share_body_bytes_max));
    }
    return {};
}

net::HttpResponse ShareRoutes::unauthorized_answer() const {
    net::HttpResponse response = share_error(401, "unauthorized");
    // The header that the token comes in; Authorization is not looked at.
    response.headers.emplace_back("WWW-Authenticate", "X-Helper-Token realm=\"posthouse\"");
    return response;
}

net::HttpResponse ShareRoutes::limited_answer(std::string_view call_id,
                                              std::uint32_t retry_after_seconds) const {
    net::HttpResponse response =
        answers_.refused(429, "too many requests with this token", call_id);
    response.headers.emplace_back("Retry-After", std::to_string(retry_after_seconds));
    return response;
}

void ShareRoutes::answer(const Route& route, const net::HttpRequest& request, std::string call_id,
                         net::Respond respond) {
    const ShareCall call{stage_of(route.action), std::move(call_id)};
    switch (route.action) {
        case Action::share_status:
            queries_.share_status(rest_of(request.path, route), call, respond);
            return;
        case Action::helper_status:
            queries_.helper_status(respond);
            return;
        case Action::queue_status:
            respond(queries_.queue_status(call));
            return;
        default:
            break;
    }
    if (request.body.size() > options_.share_body_bytes_max) {
        respond(answers_.refused(400, too_large(options_.share_body_bytes_max), call.id));
        return;
    }
    submitter_.submit(request.body, call, std::move(respond));
}

net::HttpResponse ShareRoutes::unreadable(const Options& options, const net::HttpRequest& head,
                                          net::HttpProblem problem) {
    switch (problem) {
        case net::HttpProblem::deadline:
            if (const auto attempt = attempt_of_share(head)) return share_upload_receipt(*attempt);
            return share_error(net::status_of(problem), net::text_of(problem));
        case net::HttpProblem::body_too_large:
            return share_error(400, too_large(options.share_body_bytes_max));
        case net::HttpProblem::malformed_body:
        case net::HttpProblem::truncated:
            return share_error(400, std::string("invalid JSON: ").append(net::text_of(problem)));
        case net::HttpProblem::overloaded:
            return ShareAnswers::unavailable(options.api_retry_after_seconds);
        default:
            return share_error(net::status_of(problem), net::text_of(problem));
    }
}

net::HttpResponse ShareRoutes::failed(const net::HttpRequest& request, std::string call_id) {
    const std::optional<RouteMatch> match = find_route(request.method, request.path);
    const Action action = match ? match->route->action : Action::share;
    return answers_.failed({stage_of(action), std::move(call_id)});
}

}  // namespace api
