#include "api/application.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "api/api_error.hpp"
#include "api/cluster_member.hpp"
#include "api/cors.hpp"
#include "api/docs/docs_answers.hpp"
#include "api/envelope.hpp"
#include "cluster/node_state.hpp"

namespace api {

namespace {

// The routes whose calls are counted (relayer-api 1.1).
bool is_relayer_api(Action action) {
    return action == Action::submit || action == Action::poll || action == Action::keyurl;
}

Submission submission_of(int status) {
    if (status < 400) return Submission::accepted;
    if (status == 401) return Submission::unauthorized;
    if (status == 429 || status == 503) return Submission::busy;
    return status < 500 ? Submission::invalid : Submission::failed;
}

std::uint32_t whole_seconds(domain::Nanoseconds time) {
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(time).count();
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(seconds, 1, 86'400));
}

}  // namespace

Application::Application(Options options, const Ports& ports)
    : options_(std::move(options)),
      authenticator_(ports.authenticator),
      health_(ports.health),
      keys_(ports.keys),
      random_(ports.random),
      clock_(ports.clock),
      observer_(ports.observer),
      node_(ports.node),
      problem_("request_failed", ports.logger, ports.clock),
      overloaded_("requests_overloaded", ports.logger, ports.clock, ports::LogLevel::warning),
      relayer_(options_, ports),
      shares_(options_, ports) {}

net::HeadVerdict Application::before_body(const net::HttpRequest& head) {
    auto ticket = std::make_shared<Ticket>();
    std::optional<net::HttpResponse> response = judge(head, *ticket);
    // Here, where each request passes once. A body that never comes is counted all the same: what
    // has begun holds a connection and memory.
    const bool too_often = !response && (response = limited_answer(*ticket, head));
    if (!response) {
        const bool is_brief =
            ticket->route->action == Action::submit || ticket->route->action == Action::share;
        return {.ticket = std::move(ticket), .is_brief = is_brief};
    }
    counted(
        *ticket, head, [](const net::HttpResponse&) {}, too_often)(*response);
    return {.answer = with_cors(*std::move(response), options_.cors_allow_origin)};
}

net::HttpResponse Application::handle(const net::HttpRequest& request) {
    Ticket ticket;
    if (auto early = judge(request, ticket))
        return with_cors(*std::move(early), options_.cors_allow_origin);
    const auto promise = std::make_shared<std::promise<net::HttpResponse>>();
    answer(ticket, request,
           [promise](net::HttpResponse response) { promise->set_value(std::move(response)); }, {});
    return with_cors(promise->get_future().get(), options_.cors_allow_origin);
}

void Application::serve(net::HttpExchange exchange) {
    const auto shared = std::make_shared<net::HttpExchange>(std::move(exchange));
    const auto ticket = std::static_pointer_cast<const Ticket>(shared->ticket());
    assert(ticket && ticket->route);
    const net::Respond respond =
        counted(*ticket, shared->request(), [this, shared](net::HttpResponse response) {
            shared->answer(with_cors(std::move(response), options_.cors_allow_origin));
        });
    try {
        answer(*ticket, shared->request(), respond,
               [shared](std::function<void()> told) { shared->when_gone(std::move(told)); });
    } catch (...) {
        respond(answer_to_failure(shared->request()));
    }
}

net::HttpResponse Application::unreadable(const net::HttpRequest& head, net::HttpProblem problem) {
    const std::string call_id = make_call_id(random_);
    if (problem == net::HttpProblem::overloaded) {
        overloaded_.write(call_id, "requests that arrive fill http.buffered_bytes_max");
    }
    return unreadable_answer(options_, head, problem, call_id);
}

net::HttpResponse Application::unreadable_answer(const Options& options,
                                                 const net::HttpRequest& head,
                                                 net::HttpProblem problem,
                                                 std::string_view call_id) {
    return with_cors(is_share_path(head.path)
                         ? ShareRoutes::unreadable(options, head, problem)
                         : RelayerRoutes::unreadable(options, problem, call_id),
                     options.cors_allow_origin);
}

net::HttpResponse Application::failed(const net::HttpRequest& request) {
    return with_cors(answer_to_failure(request), options_.cors_allow_origin);
}

net::HttpResponse Application::answer_to_failure(const net::HttpRequest& request) {
    const std::string call_id = make_call_id(random_);
    if (is_share_path(request.path)) return shares_.failed(request, call_id);
    problem_.write(call_id, reason_of_current_exception());
    return failed_answer(call_id, internal_error());
}

std::optional<net::HttpResponse> Application::judge(const net::HttpRequest& head,
                                                    Ticket& ticket) const {
    const std::optional<RouteMatch> match = find_route(head.method, head.path);
    if (!match) {
        return is_share_path(head.path) ? share_error(404, "not found") : empty_answer(404);
    }
    const Route& route = *match->route;
    if (shares_.is_hidden(route)) return share_error(404, "not found");
    if (!match->method_fits) {
        const bool asks_first = head.method == "OPTIONS" && !options_.cors_allow_origin.empty();
        return asks_first ? preflight(route, head) : wrong_method(route);
    }
    ticket.route = &route;
    if (route.action == Action::admin) {
        return admin_error(403, options_.admin_enabled ? "Admin endpoints are not enabled on this "
                                                         "address: see http.admin_endpoint"
                                                       : "Admin endpoints are not enabled");
    }
    ticket.call_id = make_call_id(random_);
    std::optional<access::Pass> pass = authenticator_.admit(head);
    if (is_share_action(route.action)) {
        if (auto refused = shares_.before_body(route, head, pass.has_value())) return refused;
    }
    if (!pass) return unauthorized_answer(ticket);
    ticket.pass = *std::move(pass);
    if (route.action == Action::submit) {
        if (const auto api_error = relayer_.before_body(head, ticket.pass)) {
            return failed_answer(ticket.call_id, *api_error);
        }
    }
    return {};
}

// Answers that came too early to have a route, or whose body could not be read, are not counted.
net::Respond Application::counted(const Ticket& ticket, const net::HttpRequest& request,
                                  net::Respond respond, bool too_often) {
    if (ticket.route == nullptr || !is_relayer_api(ticket.route->action)) return respond;
    const Route& route = *ticket.route;
    observer_.arrived(route, request);
    return [this, &route, client = ticket.pass.client_id(), too_often, begin = clock_.monotonic(),
            respond = std::move(respond)](net::HttpResponse response) {
        observer_.answered(route, response.status, clock_.monotonic() - begin);
        if (route.action == Action::submit) {
            observer_.submitted(client,
                                too_often ? Submission::too_often : submission_of(response.status));
        }
        respond(std::move(response));
    };
}

std::optional<net::HttpResponse> Application::limited_answer(const Ticket& ticket,
                                                             const net::HttpRequest& head) {
    const auto wait = authenticator_.refused(ticket.pass, head.method);
    if (!wait) return {};
    const std::uint32_t seconds = whole_seconds(*wait);
    return is_share_action(ticket.route->action) ? shares_.limited_answer(ticket.call_id, seconds)
                                                 : relayer_.limited_answer(ticket.call_id, seconds);
}

void Application::answer(const Ticket& ticket, const net::HttpRequest& request,
                         net::Respond respond, const net::WhenGone& when_gone) {
    // A key that was taken away while the body came is good for nothing any more.
    if (!authenticator_.is_valid(ticket.pass)) {
        respond(unauthorized_answer(ticket));
        return;
    }
    const Route& route = *ticket.route;
    switch (route.action) {
        case Action::share:
        case Action::share_status:
        case Action::helper_status:
        case Action::queue_status:
            shares_.answer(route, request, ticket.call_id, std::move(respond));
            return;
        case Action::submit:
            relayer_.submit({route.kind, ticket.call_id, ticket.pass.client_id()}, request,
                            std::move(respond));
            return;
        case Action::poll:
            relayer_.poll({route.kind, ticket.call_id}, request, rest_of(request.path, route),
                          respond, when_gone);
            return;
        case Action::keyurl:
            respond(key_answer(ticket));
            return;
        case Action::liveness:
            respond(alive_answer());
            return;
        case Action::healthz:
            respond(health());
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

net::HttpResponse Application::unauthorized_answer(const Ticket& ticket) const {
    return is_share_action(ticket.route->action) ? shares_.unauthorized_answer()
                                                 : relayer_.unauthorized_answer(ticket.call_id);
}

net::HttpResponse Application::key_answer(const Ticket& ticket) const {
    if (const auto keys = keys_.current()) return key_material_answer(*keys);
    return failed_answer(ticket.call_id, internal_error("Key URL not yet initialized"));
}

net::HttpResponse Application::health() const {
    std::vector<engine::Dependency> dependencies = health_.dependencies();
    if (node_ == nullptr) return health_answer(dependencies, {});
    const cluster::NodeState state = node_->state();
    for (auto& dependency : dependencies_of(state)) dependencies.push_back(std::move(dependency));
    return health_answer(dependencies, cluster_member(state, clock_.wall()));
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

// Any header may be sent, `*` does not cover Authorization: what is asked for is allowed by name.
net::HttpResponse Application::preflight(const Route& route, const net::HttpRequest& head) {
    net::HttpResponse response = empty_answer(204);
    response.headers = {
        {"Access-Control-Allow-Methods", route.method == "GET" ? "GET, HEAD" : "POST"},
        {"Access-Control-Max-Age", "86400"}};
    if (const auto asked = head.header("Access-Control-Request-Headers")) {
        response.headers.emplace_back("Access-Control-Allow-Headers", *asked);
    }
    return response;
}

}  // namespace api
