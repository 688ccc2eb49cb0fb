#include "api/application.hpp"

#include <exception>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "api/docs_answers.hpp"
#include "api/envelope.hpp"
#include "api/refusal.hpp"

namespace api {

namespace {

constexpr std::string_view share_prefix = "/shielded-vote/";

bool is_share_path(std::string_view path) {
    return path.starts_with(share_prefix);
}

std::string reason_of_current_exception() {
    try {
        if (const auto current = std::current_exception()) std::rethrow_exception(current);
    } catch (const std::exception& exception) {
        return exception.what();
    } catch (...) {
        return "an exception without text";
    }
    return "the request was dropped without an answer";
}

}  // namespace

Application::Application(Options options, engine::Intake& intake, engine::Inquiry& inquiry,
                         engine::RoundDirectory& rounds, ContractSignatures& contracts,
                         engine::Health& health, engine::KeyDirectory& keys, engine::Clock& clock,
                         engine::Random& random, engine::Journal& journal)
    : options_(std::move(options)),
      health_(health),
      keys_(keys),
      random_(random),
      relayer_(options_, intake, inquiry, contracts, clock, journal),
      shares_(options_, intake, rounds, clock, journal),
      trouble_("request_failed", journal, clock) {}

std::optional<HttpResponse> Application::before_body(const HttpRequest& head) {
    std::optional<HttpResponse> response = early_answer(head);
    if (!response) return {};
    return with_cors(*std::move(response));
}

HttpResponse Application::handle(const HttpRequest& request) {
    const auto promise = std::make_shared<std::promise<HttpResponse>>();
    answer(request, [promise](HttpResponse response) { promise->set_value(std::move(response)); });
    return with_cors(promise->get_future().get());
}

void Application::serve(HttpExchange exchange) {
    const auto shared = std::make_shared<HttpExchange>(std::move(exchange));
    try {
        answer(shared->request(), [this, shared](HttpResponse response) {
            shared->answer(with_cors(std::move(response)));
        });
    } catch (...) {
        shared->answer(failed(shared->request()));
    }
}

HttpResponse Application::unreadable(const HttpRequest& head, HttpProblem problem) {
    return with_cors(is_share_path(head.path)
                         ? shares_.unreadable(problem)
                         : relayer_.unreadable(problem, make_call_id(random_)));
}

HttpResponse Application::failed(const HttpRequest& request) {
    const std::string call_id = make_call_id(random_);
    trouble_.write(call_id, reason_of_current_exception());
    return with_cors(is_share_path(request.path) ? share_error(500, "internal error")
                                                 : failed_answer(call_id, internal_error()));
}

std::optional<HttpResponse> Application::early_answer(const HttpRequest& head) {
    const std::optional<RouteMatch> match = find_route(head.method, head.path);
    if (!match) return empty_answer(404);
    const Route& route = *match->route;
    if (!match->method_fits) {
        const bool asks_first = head.method == "OPTIONS" && !options_.cors_allow_origin.empty();
        return asks_first ? preflight(route) : wrong_method(route);
    }
    if (route.action == Action::share) return shares_.before_body(head);
    if (route.action == Action::submit) {
        if (const auto refusal = relayer_.before_body(head)) {
            return failed_answer(make_call_id(random_), *refusal);
        }
    }
    return {};
}

void Application::answer(const HttpRequest& request, Respond respond) {
    // Once more, whoever calls: the token must not depend on the caller's order.
    if (auto early = early_answer(request)) {
        respond(*std::move(early));
        return;
    }
    const RouteMatch match = find_route(request.method, request.path).value();
    const Route& route = *match.route;
    switch (route.action) {
        case Action::share:
            shares_.submit(request.body, make_call_id(random_), std::move(respond));
            return;
        case Action::submit:
            relayer_.submit(route.kind, request.body, make_call_id(random_), std::move(respond));
            return;
        case Action::poll:
            respond(relayer_.poll(route.kind, match.job_id, make_call_id(random_)));
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
            respond(docs_answer());
            return;
        case Action::openapi:
            respond(openapi_answer());
            return;
    }
    respond(empty_answer(404));
}

HttpResponse Application::key_answer() const {
    if (const auto keys = keys_.current()) return key_material_answer(*keys);
    return failed_answer(make_call_id(random_), internal_error("Key URL not yet initialized"));
}

HttpResponse Application::wrong_method(const Route& route) const {
    HttpResponse response = route.action == Action::share
                                ? share_error(405, "wrong method: send POST")
                                : empty_answer(405);
    response.headers.emplace_back("Allow", route.method == "GET" ? "GET, HEAD" : "POST");
    return response;
}

HttpResponse Application::preflight(const Route& route) const {
    HttpResponse response = empty_answer(204);
    response.headers = {
        {"Access-Control-Allow-Methods", route.method == "GET" ? "GET, HEAD" : "POST"},
        {"Access-Control-Allow-Headers",
         "Content-Type, Authorization, X-API-Key, X-Helper-Token, zama-sdk-name, "
         "zama-sdk-version"},
        {"Access-Control-Max-Age", "86400"}};
    return response;
}

HttpResponse Application::with_cors(HttpResponse response) const {
    if (options_.cors_allow_origin.empty()) return response;
    response.headers.emplace_back("Access-Control-Allow-Origin", options_.cors_allow_origin);
    response.headers.emplace_back("Access-Control-Expose-Headers", "Retry-After");
    if (options_.cors_allow_origin != "*") response.headers.emplace_back("Vary", "Origin");
    return response;
}

}  // namespace api
