#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/options.hpp"
#include "api/ports.hpp"
#include "api/relayer_routes.hpp"
#include "api/router.hpp"
#include "api/share_routes.hpp"
#include "api/throttled_log.hpp"
#include "net/http_application.hpp"
#include "net/http_message.hpp"

namespace api {

// What the head of a request told, once; it goes with the request to its answer. Whether the key
// was taken away meanwhile is the one thing that is asked again.
struct Ticket {
    const Route* route = nullptr;  // nothing: no such path, or not with this method
    access::Pass pass;
    std::string call_id;  // the requestId of the answer
};

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

    // What `unreadable` answers, wherever a request could not be read.
    [[nodiscard]] static net::HttpResponse unreadable_answer(const Options& options,
                                                             const net::HttpRequest& head,
                                                             net::HttpProblem problem,
                                                             std::string_view call_id);

private:
    // Fills the ticket, and answers what the head alone is enough for. Changes nothing.
    [[nodiscard]] std::optional<net::HttpResponse> judge(const net::HttpRequest& head,
                                                         Ticket& ticket) const;
    // Counts the call and its answer if it is one of the relayer API. `too_often`: what the answer
    // says is that its key posts over its rate.
    [[nodiscard]] net::Respond counted(const Ticket& ticket, const net::HttpRequest& request,
                                       net::Respond respond, bool too_often = false);
    // While an exception is handled.
    [[nodiscard]] net::HttpResponse answer_to_failure(const net::HttpRequest& request);
    // Counts the request against the limit of its key.
    [[nodiscard]] std::optional<net::HttpResponse> limited_answer(const Ticket& ticket,
                                                                  const net::HttpRequest& head);
    void answer(const Ticket& ticket, const net::HttpRequest& request, net::Respond respond,
                const net::WhenGone& when_gone);
    [[nodiscard]] net::HttpResponse unauthorized_answer(const Ticket& ticket) const;
    [[nodiscard]] net::HttpResponse key_answer(const Ticket& ticket) const;
    [[nodiscard]] net::HttpResponse health() const;
    [[nodiscard]] net::HttpResponse wrong_method(const Route& route) const;
    [[nodiscard]] static net::HttpResponse preflight(const Route& route,
                                                     const net::HttpRequest& head);

    const Options options_;
    access::Authenticator& authenticator_;
    engine::Health& health_;
    engine::KeyDirectory& keys_;
    ports::Random& random_;
    ports::Clock& clock_;
    HttpObserver& observer_;
    const cluster::NodeView* const node_;
    ThrottledLog problem_;
    ThrottledLog overloaded_;
    // Last: what they still do when all this ends answers through the rest.
    RelayerRoutes relayer_;
    ShareRoutes shares_;
};

}  // namespace api
