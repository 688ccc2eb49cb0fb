#pragma once

#include <optional>
#include <string_view>

#include "api/contract_signatures.hpp"
#include "api/http_application.hpp"
#include "api/http_message.hpp"
#include "api/options.hpp"
#include "api/relayer_routes.hpp"
#include "api/report.hpp"
#include "api/router.hpp"
#include "api/share_routes.hpp"
#include "engine/clock.hpp"
#include "engine/gateway.hpp"
#include "engine/health.hpp"
#include "engine/inquiry.hpp"
#include "engine/intake.hpp"
#include "engine/journal.hpp"
#include "engine/key_material.hpp"
#include "engine/random.hpp"

namespace api {

// Posthouse as clients see it: every route of the HTTP interface. Any thread.
class Application : public HttpApplication {
public:
    Application(Options options, engine::Intake& intake, engine::Inquiry& inquiry,
                engine::RoundDirectory& rounds, ContractSignatures& contracts,
                engine::Health& health, engine::KeyDirectory& keys, engine::Clock& clock,
                engine::Random& random, engine::Journal& journal);

    [[nodiscard]] std::optional<HttpResponse> before_body(const HttpRequest& head) override;
    [[nodiscard]] HttpResponse handle(const HttpRequest& request) override;
    // Requests that wait for a commit hold no worker meanwhile.
    void serve(HttpExchange exchange) override;
    [[nodiscard]] HttpResponse unreadable(const HttpRequest& head, HttpProblem problem) override;
    [[nodiscard]] HttpResponse failed(const HttpRequest& request) override;

private:
    [[nodiscard]] std::optional<HttpResponse> early_answer(const HttpRequest& head);
    void answer(const HttpRequest& request, Respond respond);
    [[nodiscard]] HttpResponse key_answer() const;
    [[nodiscard]] HttpResponse wrong_method(const Route& route) const;
    [[nodiscard]] HttpResponse preflight(const Route& route) const;
    [[nodiscard]] HttpResponse with_cors(HttpResponse response) const;

    const Options options_;
    engine::Health& health_;
    engine::KeyDirectory& keys_;
    engine::Random& random_;
    RelayerRoutes relayer_;
    ShareRoutes shares_;
    TroubleReport trouble_;
};

}  // namespace api
