#pragma once

#include <functional>
#include <optional>
#include <string>

#include "api/http/http_application.hpp"
#include "api/report.hpp"

namespace api {

// GET /metrics and GET /health, for a server of their own (relayer-api 1.1). Any thread.
class MetricsApplication : public HttpApplication {
public:
    // `text` makes the answer of /metrics; an exception of it is a 500 and goes to the journal.
    MetricsApplication(std::function<std::string()> text, engine::Journal& journal,
                       const engine::Clock& clock);

    [[nodiscard]] std::optional<HttpResponse> before_body(const HttpRequest& head) override;
    [[nodiscard]] HttpResponse handle(const HttpRequest& request) override;
    [[nodiscard]] HttpResponse unreadable(const HttpRequest& head, HttpProblem problem) override;
    [[nodiscard]] HttpResponse failed(const HttpRequest& request) override;

private:
    const std::function<std::string()> text_;
    TroubleReport trouble_;
};

}  // namespace api
