#pragma once

#include <memory>
#include <optional>
#include <string>

#include "api/forwarding/forwarded_header.hpp"
#include "api/throttled_log.hpp"
#include "cluster/database.hpp"
#include "cluster/key.hpp"
#include "cluster/node_state.hpp"
#include "net/http_application.hpp"
#include "ports/clock.hpp"
#include "ports/logger.hpp"
#include "ports/random.hpp"

namespace api::forwarding {

// What the owner of a book serves: the application, to which a request that another node has passed
// on seems to come from its client, and whose answers leave only while the lease is held. Any
// thread.
class OwnerApplication : public net::HttpApplication {
public:
    // All of it outlives this one, and every exchange, which may outlive this one.
    struct Parts {
        net::HttpApplication& application;
        const cluster::NodeView& node;
        std::shared_ptr<const cluster::Keys> keys;
        const ports::Clock& clock;
        ports::Random& random;
        ports::Logger& logger;
    };
    struct Identity {
        std::string node;
        cluster::Instance instance{};
    };

    // `cors_allow_origin`: as the application has it.
    OwnerApplication(Parts parts, Identity self, std::string cors_allow_origin);

    [[nodiscard]] net::HeadVerdict before_body(const net::HttpRequest& head) override;
    [[nodiscard]] net::HttpResponse handle(const net::HttpRequest& request) override;
    void serve(net::HttpExchange exchange) override;
    [[nodiscard]] net::HttpResponse unreadable(const net::HttpRequest& head,
                                               net::HttpProblem problem) override;
    [[nodiscard]] net::HttpResponse failed(const net::HttpRequest& request) override;

private:
    struct Ticket;
    struct Guard;
    class Guarded;

    // Who sent it, looked at once; an answer: it was meant for another process.
    [[nodiscard]] std::optional<net::HttpResponse> judge(const net::HttpRequest& head,
                                                         Ticket& ticket);

    const std::shared_ptr<const Guard> guard_;
    const Parts& parts_;
    const Identity self_;
    ThrottledLog forged_;
};

}  // namespace api::forwarding
