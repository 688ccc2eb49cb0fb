#pragma once

#include <functional>
#include <optional>
#include <string>

#include "api/throttled_log.hpp"
#include "net/http_application.hpp"

namespace api::metrics {

// GET /metrics and GET /health, for a server of their own (relayer-api 1.1). Any thread.
class MetricsApplication : public net::HttpApplication {
public:
    // `text` makes the answer of /metrics; an exception of it is a 500 and goes to the log.
    MetricsApplication(std::function<std::string()> text, ports::Logger& logger,
                       const ports::Clock& clock);

    [[nodiscard]] net::HeadVerdict before_body(const net::HttpRequest& head) override;
    [[nodiscard]] net::HttpResponse handle(const net::HttpRequest& request) override;
    [[nodiscard]] net::HttpResponse unreadable(const net::HttpRequest& head,
                                               net::HttpProblem problem) override;
    [[nodiscard]] net::HttpResponse failed(const net::HttpRequest& request) override;

private:
    [[nodiscard]] std::optional<net::HttpResponse> early_answer(const net::HttpRequest& head) const;

    const std::function<std::string()> text_;
    ThrottledLog problem_;
};

}  // namespace api::metrics
