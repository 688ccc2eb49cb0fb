#pragma once

#include <optional>
#include <string_view>

#include "api/access/secret_token.hpp"
#include "api/admin/admin_changes.hpp"
#include "api/admin/admin_options.hpp"
#include "api/http/http_application.hpp"
#include "api/http/http_server.hpp"
#include "api/report.hpp"
#include "engine/clock.hpp"

namespace api {

// GET and POST /admin/config (relayer-api 6) for a listener of its own. Unlike in the reference a
// token is needed, and what is changed is remembered. Any thread; requests that wait for a commit
// hold no worker.
class AdminApplication : public HttpApplication {
public:
    // `changes` outlives the application.
    AdminApplication(std::string_view token, AdminChanges& changes, engine::Journal& journal,
                     const engine::Clock& clock);

    [[nodiscard]] std::optional<HttpResponse> before_body(const HttpRequest& head) override;
    [[nodiscard]] HttpResponse handle(const HttpRequest& request) override;
    void serve(HttpExchange exchange) override;
    [[nodiscard]] HttpResponse unreadable(const HttpRequest& head, HttpProblem problem) override;
    [[nodiscard]] HttpResponse failed(const HttpRequest& request) override;

private:
    [[nodiscard]] bool may_enter(const HttpRequest& head) const;
    void answer(const HttpRequest& request, Respond respond);
    void post(const HttpRequest& request, Respond respond);
    [[nodiscard]] HttpResponse answer_of(const AdminParameter& parameter,
                                         const AdminChanges::Outcome& outcome);

    const SecretToken token_;
    AdminChanges& changes_;
    TroubleReport denied_;
    TroubleReport refused_;
    TroubleReport not_stored_;
    TroubleReport failed_;
};

// Small requests of few clients.
[[nodiscard]] HttpOptions http_options_of(const AdminOptions& options);

}  // namespace api
