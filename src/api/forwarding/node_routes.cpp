#include "api/forwarding/node_routes.hpp"

#include <cstdint>

#include "api/api_error.hpp"
#include "api/envelope.hpp"
#include "api/share_answers.hpp"

namespace api::forwarding {

namespace {

constexpr std::uint32_t retry_after_seconds = 1;

}  // namespace

std::optional<Action> action_of_node(const net::HttpRequest& head) {
    const std::optional<RouteMatch> match = find_route(head.method, head.path);
    if (!match || !match->method_fits) return std::nullopt;
    switch (match->route->action) {
        case Action::liveness:
        case Action::healthz:
        case Action::version:
            return match->route->action;
        default:
            return std::nullopt;
    }
}

net::HttpResponse undecided_answer(const net::HttpRequest& head, std::string_view call_id) {
    if (is_share_path(head.path)) return ShareAnswers::unavailable(retry_after_seconds);
    const ApiError api_error = can_not_decide();
    const std::optional<RouteMatch> match = find_route(head.method, head.path);
    if (match && match->route->action == Action::admin) return admin_not_now(api_error.message);
    return failed_answer(call_id, api_error, retry_after_seconds);
}

}  // namespace api::forwarding
