#include "api/admin/admin_application.hpp"

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "api/admin/admin_answer.hpp"
#include "api/content_type.hpp"
#include "api/envelope.hpp"
#include "api/json_reader.hpp"
#include "api/overloaded.hpp"

namespace api::admin {

namespace {

bool is_get(const net::HttpRequest& request) {
    return request.method == "GET" || request.method == "HEAD";
}

// The token of `Authorization: Bearer TOKEN`; empty: none was shown that way.
std::string_view bearer_token(const net::HttpRequest& head) {
    constexpr std::string_view scheme = "Bearer ";
    const std::string_view value = head.header("Authorization").value_or("");
    if (!net::equal_ignoring_case(value.substr(0, scheme.size()), scheme)) return {};
    const std::string_view rest = value.substr(scheme.size());
    return rest.substr(std::min(rest.find_first_not_of(' '), rest.size()));
}

net::HttpResponse without_token() {
    net::HttpResponse response =
        admin_error(401, "Unauthorized: send Authorization: Bearer TOKEN or X-Admin-Token: TOKEN");
    response.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"posthouse admin\"");
    return response;
}

// What a POST asks for.
struct ChangeRequest {
    const AdminParameter* parameter = nullptr;
    std::optional<AdminValue> value;  // nothing: back to the configuration's
};

// Why it asks for nothing, with what the log says of it.
struct BadRequest {
    net::HttpResponse response;
    std::string name = "?";  // never one that only the client knows
    std::string reason;
};

BadRequest wrong_shape(std::string_view text) {
    return {.response = admin_text(422, text), .reason = std::string(text)};
}

BadRequest no_json(const JsonProblem& problem) {
    const std::string text = "The body is no JSON: " + text_of(problem);
    return {.response = admin_text(400, text), .reason = text};
}

BadRequest unknown_parameter(std::string_view name) {
    constexpr std::size_t shown_max = 200;
    return {.response = admin_error(
                400, "Unknown configuration parameter: " + std::string(name.substr(0, shown_max))),
            .reason = "no such parameter"};
}

BadRequest refused(const AdminParameter& parameter, const AdminError& api_error) {
    return {admin_error(400, api_error.text), std::string(parameter.name), api_error.text};
}

std::variant<ChangeRequest, BadRequest> read_change(JsonValue body) {
    if (!body.is(JsonType::object)) {
        return wrong_shape("The body must be an object with `param` and `value`");
    }
    const auto param = body.find("param");
    const auto alias = body.find("name");
    if (param && alias) return wrong_shape("`param` and `name` mean the same: send one of them");
    const auto name = param ? param : alias;
    if (!name) return wrong_shape("Missing member `param`");
    if (!name->is(JsonType::string)) return wrong_shape("`param` must be a string");
    const auto value = body.find("value");
    if (!value) return wrong_shape("Missing member `value`");
    if (!value->is(JsonType::number) && !value->is(JsonType::array) && !value->is(JsonType::null)) {
        return wrong_shape(
            "`value` must be a number, an array, or null for the value of the configuration");
    }
    const AdminParameter* parameter = find_admin_parameter(name->text());
    if (parameter == nullptr) return unknown_parameter(name->text());
    if (value->is(JsonType::null)) return ChangeRequest{parameter, std::nullopt};
    auto given = read_admin_value(*parameter, *value);
    if (const auto* api_error = std::get_if<AdminError>(&given)) {
        return refused(*parameter, *api_error);
    }
    return ChangeRequest{parameter, std::get<AdminValue>(std::move(given))};
}

std::variant<ChangeRequest, BadRequest> read_change(std::string_view body) {
    const auto read = read_json(body);
    if (const auto* problem = std::get_if<JsonProblem>(&read)) return no_json(*problem);
    return read_change(std::get<JsonDocument>(read).root());
}

std::string field(std::string_view name, std::string_view value) {
    return std::string(name).append("=").append(value);
}

}  // namespace

AdminApplication::AdminApplication(std::optional<std::string_view> token, AdminChanges& changes,
                                   ports::Logger& logger, const ports::Clock& clock,
                                   std::vector<AdminRoute> routes)
    : token_(token),
      changes_(changes),
      routes_(std::move(routes)),
      denied_("admin_denied", logger, clock, ports::LogLevel::warning),
      refused_("setting_refused", logger, clock, ports::LogLevel::warning),
      not_stored_("setting_not_stored", logger, clock, ports::LogLevel::warning),
      failed_("admin_failed", logger, clock) {
    routes_.push_back({"/admin/config", "GET, HEAD, POST",
                       [this](const net::HttpRequest& request, net::Respond respond) {
                           is_get(request) ? respond(admin_state(changes_.state()))
                                           : post(request, std::move(respond));
                       }});
}

net::HeadVerdict AdminApplication::before_body(const net::HttpRequest& head) {
    return {.answer = early_answer(head)};
}

std::optional<net::HttpResponse> AdminApplication::early_answer(const net::HttpRequest& head) {
    const AdminRoute* route = find(head.path);
    if (route == nullptr) return empty_answer(404);
    if (!route->allows(head.method)) {
        net::HttpResponse response = empty_answer(405);
        response.headers.emplace_back("Allow", route->methods);
        return response;
    }
    // People come with a cookie, and send forms.
    if (route->is_page) return {};
    if (!is_admitted(head)) {
        denied_.note(field("remote", head.remote), "wrong or missing token");
        return without_token();
    }
    if (head.method == "POST" && !announces_json(head)) {
        return admin_text(415, "The body must be JSON: send Content-Type: application/json");
    }
    return {};
}

net::HttpResponse AdminApplication::handle(const net::HttpRequest& request) {
    const auto promise = std::make_shared<std::promise<net::HttpResponse>>();
    answer(request,
           [promise](net::HttpResponse response) { promise->set_value(std::move(response)); });
    return promise->get_future().get();
}

void AdminApplication::serve(net::HttpExchange exchange) {
    const auto shared = std::make_shared<net::HttpExchange>(std::move(exchange));
    try {
        answer(shared->request(),
               [shared](net::HttpResponse response) { shared->answer(std::move(response)); });
    } catch (...) {
        shared->answer(failed(shared->request()));
    }
}

net::HttpResponse AdminApplication::unreadable(const net::HttpRequest&, net::HttpProblem problem) {
    net::HttpResponse response = admin_error(net::status_of(problem), net::text_of(problem));
    if (response.status == 503) response.headers.emplace_back("Retry-After", "1");
    return response;
}

net::HttpResponse AdminApplication::failed(const net::HttpRequest& request) {
    failed_.note(field("remote", request.remote), reason_of_current_exception());
    return admin_error(500, "Internal error");
}

const AdminRoute* AdminApplication::find(std::string_view path) const {
    const auto route =
        std::ranges::find_if(routes_, [path](const AdminRoute& one) { return one.covers(path); });
    return route == routes_.end() ? nullptr : &*route;
}

// Both are looked at whatever the first says: a proxy may use Authorization for itself.
bool AdminApplication::is_admitted(const net::HttpRequest& head) const {
    if (!token_) return true;
    const bool by_bearer = token_->matches(bearer_token(head));
    const bool by_header = token_->matches(head.header("X-Admin-Token").value_or(""));
    return by_bearer || by_header;
}

void AdminApplication::answer(const net::HttpRequest& request, net::Respond respond) {
    // Once more, whoever calls: the token must not depend on the caller's order.
    if (auto early = early_answer(request)) {
        respond(*std::move(early));
    } else {
        find(request.path)->answer(request, std::move(respond));
    }
}

void AdminApplication::post(const net::HttpRequest& request, net::Respond respond) {
    auto read = read_change(request.body);
    if (auto* bad = std::get_if<BadRequest>(&read)) {
        refused_.note(field("name", bad->name), bad->reason);
        respond(std::move(bad->response));
        return;
    }
    auto& [parameter, value] = std::get<ChangeRequest>(read);
    changes_.make(
        *parameter, std::move(value),
        [this, parameter = parameter, respond = std::move(respond)](
            const AdminChanges::Outcome& outcome) { respond(answer_of(*parameter, outcome)); });
}

net::HttpResponse AdminApplication::answer_of(const AdminParameter& parameter,
                                              const AdminChanges::Outcome& outcome) {
    const std::string name = field("name", parameter.name);
    return std::visit(
        Overloaded{[&](const AdminChanges::Stored& stored) {
                       return admin_changed(parameter.name, stored.value);
                   },
                   [&](const AdminError& api_error) {
                       refused_.note(name, api_error.text);
                       return admin_error(400, api_error.text);
                   },
                   [&](const AdminChanges::NotStored&) {
                       not_stored_.note(name, "the database takes no writes");
                       return admin_not_now("The change could not be stored; try again");
                   }},
        outcome);
}

net::HttpOptions http_options_of(const AdminOptions& options) {
    net::HttpOptions http = http_options_at({});
    http.host = options.host;
    http.port = options.port;
    http.address_setting = "http.admin_endpoint";
    return http;
}

net::HttpOptions http_options_at(const std::filesystem::path& socket_file) {
    net::HttpOptions http;
    http.socket_file = socket_file;
    http.workers = 2;
    http.head_bytes_max = std::size_t{16} << 10U;
    http.body_bytes_max = std::size_t{64} << 10U;
    http.buffered_bytes_max = std::size_t{8} << 20U;
    http.idle_timeout = std::chrono::seconds{30};
    http.request_deadline = std::chrono::milliseconds{10'000};
    http.connections_max = 64;
    http.makes_room = true;
    http.connections_per_address_max = 64;
    return http;
}

}  // namespace api::admin
