#include "api/admin/page/page_routes.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "api/access/secret_token.hpp"
#include "api/admin/page/form.hpp"
#include "api/admin/page/page_embedded.hpp"
#include "api/admin/page/sessions.hpp"
#include "api/admin/page/views.hpp"
#include "api/envelope.hpp"
#include "api/throttled_log.hpp"

namespace api::admin::page {

namespace {

constexpr std::string_view cookie_name = "posthouse_session";
constexpr std::string_view form_type = "application/x-www-form-urlencoded";
// How soon a page that is open asks again, in milliseconds.
constexpr std::string_view refresh_after = "2000";

net::HttpResponse with_rules(net::HttpResponse response) {
    response.headers.emplace_back("Content-Security-Policy",
                                  "default-src 'self'; base-uri 'none'; form-action 'self'; "
                                  "frame-ancestors 'none'");
    response.headers.emplace_back("X-Content-Type-Options", "nosniff");
    response.headers.emplace_back("Referrer-Policy", "no-referrer");
    response.headers.emplace_back("Cache-Control", "no-store");
    // A scheme that browsers open no dialogue for.
    if (response.status == 401) {
        response.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"posthouse admin\"");
    }
    return response;
}

net::HttpResponse html(int status, std::string text) {
    return with_rules({.status = status,
                       .headers = {},
                       .body = std::move(text),
                       .content_type = "text/html; charset=utf-8"});
}

net::HttpResponse redirect(std::string target) {
    net::HttpResponse response =
        with_rules({.status = 303, .headers = {}, .body = {}, .content_type = ""});
    response.headers.emplace_back("Location", std::move(target));
    return response;
}

void set_cookie(net::HttpResponse& response, std::string_view secret, std::chrono::seconds age) {
    response.headers.emplace_back(
        "Set-Cookie", std::string(cookie_name) + "=" + std::string(secret) + "; Max-Age=" +
                          std::to_string(age.count()) + "; Path=/; HttpOnly; SameSite=Strict");
}

// Of all cookies with the name: whatever was planted beside it does not hide the right one.
std::string session_in(const net::HttpRequest& request, const Sessions& sessions) {
    for (const net::HttpHeader& header : request.headers) {
        if (!net::equal_ignoring_case(header.name, "Cookie")) continue;
        std::string_view rest = header.value;
        while (!rest.empty()) {
            const std::size_t end = std::min(rest.find(';'), rest.size());
            std::string_view one = rest.substr(0, end);
            rest.remove_prefix(std::min(end + 1, rest.size()));
            one.remove_prefix(std::min(one.find_first_not_of(' '), one.size()));
            const std::size_t equals = one.find('=');
            if (equals == std::string_view::npos || one.substr(0, equals) != cookie_name) continue;
            const std::string_view secret = one.substr(equals + 1);
            if (sessions.is_open(secret)) return std::string(secret);
        }
    }
    return {};
}

bool announces_form(const net::HttpRequest& request) {
    const std::string_view type = request.header("Content-Type").value_or("");
    return net::equal_ignoring_case(type.substr(0, type.find(';')), form_type);
}

net::HttpResponse asset(std::string_view text, std::string_view type) {
    return with_rules({.status = 200,
                       .headers = {},
                       .body = std::string(text),
                       .content_type = std::string(type)});
}

// One event (HTML 9.2): the server closes after it, and the browser comes back.
std::string event_of(std::string_view text) {
    std::string event = "retry: " + std::string(refresh_after) + "\n";
    while (true) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        event += "data: " + std::string(text.substr(0, end)) + "\n";
        if (end == text.size()) return event + "\n";
        text.remove_prefix(end + 1);
    }
}

// Shared: what was asked last may be answered when the routes are gone.
class Site : public std::enable_shared_from_this<Site> {
public:
    Site(std::vector<AdminRoute> routes, std::string_view admin_token, const ports::Clock& clock,
         ports::Random& random, ports::Logger& logger)
        : routes_(std::move(routes)),
          admin_token_(admin_token),
          sessions_(clock, random),
          denied_("admin_denied", logger, clock, ports::LogLevel::warning) {}

    void show(const net::HttpRequest& request, const net::Respond& respond) {
        const std::string session = session_in(request, sessions_);
        if (session.empty()) return respond(html(401, login_document({})));
        const std::string path(request.target);
        const std::string form_token = sessions_.form_token(session);
        view_of(request.path, request.query, form_token,
                [site = shared_from_this(), session, form_token, path, respond](int status,
                                                                                const View& view) {
                    const Frame frame{path, form_token, site->sessions_.take_message(session)};
                    respond(html(status, document(view, frame)));
                });
    }

    // What `live` of a page is now; `of` names it.
    void tell(const net::HttpRequest& request, const net::Respond& respond) {
        if (session_in(request, sessions_).empty()) {
            return respond(with_rules(admin_error(401, "Sign in first")));
        }
        const FormValues query = form_values(request.query);
        const auto of = query.find("of");
        const std::string target = of == query.end() ? std::string("/") : of->second;
        const std::size_t mark = std::min(target.find('?'), target.size());
        view_of(target.substr(0, mark),
                std::string_view(target).substr(std::min(mark + 1, target.size())), {},
                [respond](int, const View& view) {
                    respond(asset(event_of(view.live), "text/event-stream"));
                });
    }

    void sign_in(const net::HttpRequest& request, const net::Respond& respond) {
        const FormValues form = announces_form(request) ? form_values(request.body) : FormValues{};
        const auto token = form.find("token");
        if (token == form.end() || !admin_token_.matches(token->second)) {
            denied_.note("remote=" + std::string(request.remote), "wrong token on the page");
            return respond(html(401, login_document("This is not the token.")));
        }
        net::HttpResponse response = redirect("/");
        set_cookie(response, sessions_.begin(), Sessions::lifetime);
        respond(std::move(response));
    }

    void sign_out(const net::HttpRequest& request, const net::Respond& respond) {
        const auto admitted = admit(request, respond);
        if (!admitted) return;
        sessions_.end(admitted->session);
        net::HttpResponse response = redirect("/");
        set_cookie(response, "", std::chrono::seconds{0});
        respond(std::move(response));
    }

    // POST /jobs/ID/VERB.
    void act_on_job(const net::HttpRequest& request, const net::Respond& respond) {
        const auto admitted = admit(request, respond);
        if (!admitted) return;
        const std::string job(without_last_part(request.path));
        const std::string id(last_part(job));
        const std::string verb(last_part(request.path));
        if (verb == "release") {
            return act(admitted->session, "/admin/release", Json{{"jobs", {id}}}, job, respond);
        }
        Json body = Json::object();
        for (const char* flag : {"pay_again", "share"}) {
            if (admitted->form.contains(flag)) body[flag] = true;
        }
        act(admitted->session, "/admin/jobs/" + id + "/" + verb, body, job, respond);
    }

    // POST /kinds/KIND/pause and resume.
    void act_on_kind(const net::HttpRequest& request, const net::Respond& respond) {
        const auto admitted = admit(request, respond);
        if (!admitted) return;
        act(admitted->session, "/admin" + std::string(request.path), Json::object(), "/", respond);
    }

private:
    using Shown = std::function<void(int, const View&)>;

    struct Admitted {
        std::string session;
        FormValues form;
    };

    // A browser that is signed in and shows the token of its forms; otherwise it is answered here.
    std::optional<Admitted> admit(const net::HttpRequest& request, const net::Respond& respond) {
        std::string session = session_in(request, sessions_);
        if (session.empty()) {
            respond(html(401, login_document("Sign in again: nothing was done.")));
            return std::nullopt;
        }
        FormValues form = announces_form(request) ? form_values(request.body) : FormValues{};
        const auto token = form.find("form_token");
        const std::string form_token = sessions_.form_token(session);
        if (token == form.end() || !access::SecretToken(form_token).matches(token->second)) {
            denied_.note("remote=" + std::string(request.remote), "a form of another page");
            const Frame frame{{}, form_token};
            respond(html(403, document(trouble("This form is not from this page, or is too old. "
                                               "Nothing was done; load the page anew."),
                                       frame)));
            return std::nullopt;
        }
        return Admitted{std::move(session), std::move(form)};
    }

    void act(const std::string& session, const std::string& target, const Json& body,
             const std::string& back, const net::Respond& respond) {
        ask("POST", target, {}, body.dump(),
            [site = shared_from_this(), session, back, respond](int, const Json& answer) {
                const std::string job = text_in(answer, "job_id");
                site->sessions_.leave_message(session, message_of(answer));
                respond(redirect(job.empty() ? back : "/jobs/" + job));
            });
    }

    static std::string message_of(const Json& answer) {
        if (answer.contains("released")) {
            return number_in(answer, "released") > 0 ? "Released."
                                                     : "Not released: it is not held.";
        }
        const std::string problem = text_in(answer, "error");
        return problem.empty() ? text_in(answer, "message") + "." : problem;
    }

    void view_of(std::string_view path, std::string_view query, std::string_view form_token,
                 const Shown& shown) {
        const std::string token(form_token);
        const auto show_answer = [shown](auto view) {
            return [shown, view](int status, const Json& answer) {
                shown(status, status == 200 ? view(answer) : trouble(text_in(answer, "error")));
            };
        };
        if (path == "/") {
            return ask("GET", "/admin/status", {}, {}, show_answer([token](const Json& answer) {
                           return overview(answer, token);
                       }));
        }
        if (path == "/jobs") {
            const FormValues filters = form_values(query);
            return ask(
                "GET", "/admin/jobs", query_of(filters), {},
                show_answer([filters](const Json& answer) { return job_list(answer, filters); }));
        }
        if (without_last_part(path) == "/jobs") {
            return ask("GET", "/admin/jobs/" + std::string(last_part(path)), {}, {},
                       show_answer([token](const Json& answer) { return one_job(answer, token); }));
        }
        shown(404, trouble("No such page."));
    }

    // As a program asks the admin interface.
    void ask(std::string_view method, const std::string& path, const std::string& query,
             const std::string& body, const std::function<void(int, const Json&)>& told) const {
        const auto route = std::ranges::find_if(
            routes_, [&](const AdminRoute& one) { return one.takes(method, path); });
        if (route == routes_.end()) return told(404, Json{{"error", "No such page"}});
        const std::string target = query.empty() ? path : path + "?" + query;
        const net::HttpRequest request{.method = method,
                                       .target = target,
                                       .path = path,
                                       .query = query,
                                       .headers = {},
                                       .body = body,
                                       .remote = {}};
        route->answer(request, [told](const net::HttpResponse& response) {
            const Json answer = Json::parse(response.body, nullptr, false);
            told(response.status, answer.is_object() ? answer : Json{{"error", response.body}});
        });
    }

    const std::vector<AdminRoute> routes_;
    const access::SecretToken admin_token_;
    Sessions sessions_;
    ThrottledLog denied_;
};

}  // namespace

std::vector<AdminRoute> page_routes(std::vector<AdminRoute> routes, std::string_view admin_token,
                                    const ports::Clock& clock, ports::Random& random,
                                    ports::Logger& logger) {
    const auto site = std::make_shared<Site>(std::move(routes), admin_token, clock, random, logger);
    using Handler = void (Site::*)(const net::HttpRequest&, const net::Respond&);
    const auto route = [&site](const char* path, const char* methods, Handler handler) {
        return AdminRoute{
            path, methods,
            [site, handler](const net::HttpRequest& request, const net::Respond& respond) {
                ((*site).*handler)(request, respond);
            },
            true};
    };
    const auto fixed = [](const char* path, std::string_view text, const char* type) {
        return AdminRoute{path, "GET, HEAD",
                          [text, type](const net::HttpRequest&, const net::Respond& respond) {
                              respond(asset(text, type));
                          },
                          true};
    };
    std::vector<AdminRoute> all{
        route("/", "GET, HEAD", &Site::show),
        route("/jobs", "GET, HEAD", &Site::show),
        route("/jobs/*", "GET, HEAD", &Site::show),
        route("/events", "GET", &Site::tell),
        route("/login", "POST", &Site::sign_in),
        route("/logout", "POST", &Site::sign_out),
        fixed("/page.css", style_sheet, "text/css; charset=utf-8"),
        fixed("/page.js", script, "text/javascript; charset=utf-8"),
        fixed("/icon.svg", icon, "image/svg+xml"),
    };
    for (const char* verb : {"retry", "cancel", "release"}) {
        all.push_back(route((std::string("/jobs/*/") + verb).c_str(), "POST", &Site::act_on_job));
    }
    for (const char* verb : {"pause", "resume"}) {
        all.push_back(route((std::string("/kinds/*/") + verb).c_str(), "POST", &Site::act_on_kind));
    }
    return all;
}

}  // namespace api::admin::page
