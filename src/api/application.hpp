#pragma once

#include <optional>
#include <string_view>

#include "api/http/http_application.hpp"
#include "api/http/http_message.hpp"
#include "api/options.hpp"
#include "api/ports.hpp"
#include "api/relayer_routes.hpp"
#include "api/report.hpp"
#include "api/router.hpp"
#include "api/share_routes.hpp"

namespace api {

// Posthouse as clients see it: every route of the HTTP interface. Any thread.
class Application : public HttpApplication {
public:
    Application(Options options, const Ports& ports);

    [[nodiscard]] std::optional<HttpResponse> before_body(const HttpRequest& head) override;
    [[nodiscard]] HttpResponse handle(const HttpRequest& request) override;
    // Requests that wait for a commit hold no worker meanwhile.
    void serve(HttpExchange exchange) override;
    [[nodiscard]] HttpResponse unreadable(const HttpRequest& head, HttpProblem problem) override;
    [[nodiscard]] HttpResponse failed(const HttpRequest& request) override;

private:
    // The same whenever it is asked.
    [[nodiscard]] std::optional<HttpResponse> early_answer(const HttpRequest& head);
    // Counts the call and its answer if it is one of the relayer API.
    [[nodiscard]] Respond counted(const HttpRequest& request, Respond respond);
    // Counts the request.
    [[nodiscard]] std::optional<HttpResponse> limited_answer(const HttpRequest& head);
    [[nodiscard]] std::int64_t client_of(const HttpRequest& request) const;
    void answer(const HttpRequest& request, Respond respond, const WhenGone& when_gone);
    [[nodiscard]] HttpResponse key_answer() const;
    [[nodiscard]] HttpResponse wrong_method(const Route& route) const;
    [[nodiscard]] HttpResponse preflight(const Route& route) const;
    [[nodiscard]] HttpResponse with_cors(HttpResponse response) const;

    const Options options_;
    Gatekeeper& gatekeeper_;
    engine::Health& health_;
    engine::KeyDirectory& keys_;
    engine::Random& random_;
    engine::Clock& clock_;
    HttpObserver& observer_;
    TroubleReport trouble_;
    RelayerRoutes relayer_;
    // Last: what it still does when all this ends answers through the rest.
    ShareRoutes shares_;
};

}  // namespace api
