#pragma once

#include <optional>
#include <string_view>

#include "api/options.hpp"
#include "api/ports.hpp"
#include "api/relayer_routes.hpp"
#include "api/report.hpp"
#include "api/router.hpp"
#include "api/share_routes.hpp"
#include "net/http_application.hpp"
#include "net/http_message.hpp"

namespace api {

// Posthouse as clients see it: every route of the HTTP interface. Any thread.
class Application : public net::HttpApplication {
public:
    Application(Options options, const Ports& ports);

    [[nodiscard]] net::HeadVerdict before_body(const net::HttpRequest& head) override;
    [[nodiscard]] net::HttpResponse handle(const net::HttpRequest& request) override;
    // Requests that wait for a commit hold no worker meanwhile.
    void serve(net::HttpExchange exchange) override;
    [[nodiscard]] net::HttpResponse unreadable(const net::HttpRequest& head,
                                               net::HttpProblem problem) override;
    [[nodiscard]] net::HttpResponse failed(const net::HttpRequest& request) override;

private:
    // The same whenever it is asked.
    [[nodiscard]] std::optional<net::HttpResponse> early_answer(const net::HttpRequest& head);
    // Counts the call and its answer if it is one of the relayer API.
    [[nodiscard]] net::Respond counted(const net::HttpRequest& request, net::Respond respond);
    // Counts the request.
    [[nodiscard]] std::optional<net::HttpResponse> limited_answer(const net::HttpRequest& head);
    [[nodiscard]] std::int64_t client_of(const net::HttpRequest& request) const;
    void answer(const net::HttpRequest& request, net::Respond respond,
                const net::WhenGone& when_gone);
    [[nodiscard]] net::HttpResponse key_answer() const;
    [[nodiscard]] net::HttpResponse wrong_method(const Route& route) const;
    [[nodiscard]] net::HttpResponse preflight(const Route& route) const;
    [[nodiscard]] net::HttpResponse with_cors(net::HttpResponse response) const;

    const Options options_;
    access::Gatekeeper& gatekeeper_;
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
