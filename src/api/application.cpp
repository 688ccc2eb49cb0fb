#include "api/application.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "api/admin/admin_answer.hpp"
#include "api/docs/docs_answers.hpp"
#include "api/envelope.hpp"
#include "api/refusal.hpp"

namespace api {

namespace {

// The routes whose calls are counted (relayer-api 1.1).
bool is_relayer_api(Action action) {
    return action == Action::submit || action == Action::poll || action == Action::keyurl;
}

std::uint32_t whole_seconds(domain::Nanoseconds time) {
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(time).count();
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(seconds, 1, 86'400));
}

}  // namespace

Application::Application(Options options, const Ports& ports)
    : options_(std::move(options)),
      gatekeeper_(ports.gatekeeper),
      health_(ports.health),
      keys_(ports.keys),
      random_(ports.random),
      clock_(ports.clock),
      observer_(ports.observer),
      trouble_("request_failed", ports.journal, ports.clock),
      relayer_(options_, ports),
      shares_(options_, ports) {}

net::HeadVerdict Application::before_body(const net::HttpRequest& head) {
    std::optional<net::HttpResponse> response = early_answer(head);
    // Here, where each request passes once. A body that never comes is counted all the same: what
    // has begun holds a connection and memory.
    if (!response) response = limited_answer(head);
    if (!response) return {};
    counted(head, [](const net::HttpResponse&) {})(*response);
    return {.answer = with_cors(*std::move(response))};
}

net::HttpResponse Application::handle(const net::HttpRequest& request) {
    const auto promise = std::make_shared<std::promise<net::HttpResponse>>();
    answer(request,
           [promise](net::HttpResponse response) { promise->set_value(std::move(response)); }, {});
    return with_cors(promise->get_future().get());
}

void Application::serve(net::HttpExchange exchange) {
    const auto shared = std::make_shared<net::HttpExchange>(std::move(exchange));
    try {
        answer(shared->request(),
               counted(shared->request(),
                       [this, shared](net::HttpResponse response) {
                           shared->answer(with_cors(std::move(response)));
                       }),
               [shared](std::function<void()> told) { shared->when_gone(std::move(told)); });
    } catch (...) {
        shared->answer(failed(shared->request()));
    }
}

net::HttpResponse Application::unreadable(const net::HttpRequest& head, net::HttpProblem problem) {
    return with_cors(is_share_path(head.path)
                         ? shares_.unreadable(problem)
                         : relayer_.unreadable(problem, make_call_id(random_)));
}

net::HttpResponse Application::failed(const net::HttpRequest& request) {
    const std::string call_id = make_call_id(random_);
    if (is_share_path(request.path)) return with_cors(shares_.failed(request, call_id));
    trouble_.write(call_id, reason_of_current_exception());
    return with_cors(failed_answer(call_id, internal_error()));
}

std::optional<net::HttpResponse> Application::early_answer(const net::HttpRequest& head) {
    const std::optional<RouteMatch> match = find_route(head.method, head.path);
    if (!match) {
        return is_share_path(head.path) ? share_error(404, "not found") : empty_answer(404);
    }
    const Route& route = *match->route;
    if (shares_.is_hidden(route)) return share_error(404, "not found");
    if (!match->method_fits) {
        const bool asks_first = head.method == "OPTIONS" && !options_.cors_allow_origin.empty();
        return asks_first ? preflight(route) : wrong_method(route);
    }
    if (route.action == Action::admin) {
        return admin::admin_error(403, options_.admin_enabled
                                           ? "Admin endpoints are not enabled on this "
                                             "address: see http.admin_endpoint"
                                           : "Admin endpoints are not enabled");
    }
    if (is_share_action(route.action)) return shares_.before_body(route, head);
    if (!gatekeeper_.may_enter(head)) return relayer_.unauthorized_answer(make_call_id(random_));
    if (route.action == Action::submit) {
        if (const auto refusal = relayer_.before_body(head)) {
            return failed_answer(make_call_id(random_), *refusal);
        }
    }
    return {};
}

// Answers that came too early to have a route, or whose body could not be read, are not counted.
net::Respond Application::counted(const net::HttpRequest& request, net::Respond respond) {
    const std::optional<RouteMatch> match = find_route(request.method, request.path);
    if (!match || !match->method_fits || !is_relayer_api(match->route->action)) return respond;
    const Route& route = *match->route;
    observer_.arrived(route, request);
    return [this, &route, begin = clock_.monotonic(),
            respond = std::move(respond)](net::HttpResponse response) {
        observer_.answered(route, response.status, clock_.monotonic() - begin);
        respond(std::move(response));
    };
}

std::optional<net::HttpResponse> Application::limited_answer(const net::HttpRequest& head) {
    const std::optional<domain::Nanoseconds> wait = gatekeeper_.refused(head);
    if (!wait) return {};
    const std::string call_id = make_call_id(random_);
    const std::uint32_t seconds = whole_seconds(*wait);
    return is_share_path(head.path) ? shares_.limited_answer(call_id, seconds)
                                    : relayer_.limited_answer(call_id, seconds);
}

std::int64_t Application::client_of(const net::HttpRequest& request) const {
    const std::optional<access::Client> client = gatekeeper_.client_of(request);
    return client ? static_cast<std::int64_t>(client->id) : 0;
}

void Application::answer(const net::HttpRequest& request, net::Respond respond,
                         const net::WhenGone& when_gone) {
    // Once more, whoever calls: keys must not depend on the caller's order. One that was taken away
    // meanwhile is good for nothing any more.
    if (auto early = early_answer(request)) {
        respond(*std::move(early));
        return;
    }
    const RouteMatch match = find_route(request.method, request.path).value();
    const Route& route = *match.route;
    switch (route.action) {
        case Action::share:
        case Action::share_status:
        case Action::helper_status:
        case Action::queue_status:
            shares_.answer(match, request, make_call_id(random_), std::move(respond));
            return;
        case Action::submit:
            relayer_.submit({route.kind, make_call_id(random_), client_of(request)}, request,
                            std::move(respond));
            return;
        case Action::poll:
            relayer_.poll({route.kind, make_call_id(random_)}, request, match.rest,
                          std::move(respond), when_gone);
            return;
        case Action::keyurl:
            respond(key_answer());
            return;
        case Action::liveness:
            respond(alive_answer());
            return;
        case Action::healthz:
            respond(health_answer(health_.dependencies()));
            return;
        case Action::version:
            respond(version_answer(options_));
            return;
        case Action::docs:
            respond(docs::docs_answer());
            return;
        case Action::openapi:
            respond(docs::openapi_answer());
            return;
        case Action::admin:
            break;  // refused early
    }
    respond(empty_answer(404));
}

net::HttpResponse Application::key_answer() const {
    if (const auto keys = keys_.current()) return key_material_answer(*keys);
    return failed_answer(make_call_id(random_), internal_error("Key URL not yet initialized"));
}

net::HttpResponse Application::wrong_method(const Route& route) const {
    net::HttpResponse response =
        is_share_action(route.action)
            ? share_error(405, std::string("wrong method: send ").append(route.method))
            : empty_answer(405);
    response.headers.emplace_back("Allow", route.action == Action::admin ? "GET, HEAD, POST"
                                           : route.method == "GET"       ? "GET, HEAD"
                                                                         : "POST");
    return response;
}

net::HttpResponse Application::preflight(const Route& route) const {
    net::HttpResponse response = empty_answer(204);
    response.headers = {
        {"Access-Control-Allow-Methods", route.method == "GET" ? "GET, HEAD" : "POST"},
        {"Access-Control-Allow-Headers",
         "Content-Type, Authorization, X-API-Key, X-Helper-Token, Idempotency-Key, Prefer, "
         "zama-sdk-name, zama-sdk-version"},
        {"Access-Control-Max-Age", "86400"}};
    return response;
}

net::HttpResponse Application::with_cors(net::HttpResponse response) const {
    if (options_.cors_allow_origin.empty()) return response;
    response.headers.emplace_back("Access-Control-Allow-Origin", options_.cors_allow_origin);
    response.headers.emplace_back("Access-Control-Expose-Headers",
                                  "Retry-After, Preference-Applied");
    if (options_.cors_allow_origin != "*") response.headers.emplace_back("Vary", "Origin");
    return response;
}

}  // namespace api
