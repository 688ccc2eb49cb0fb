#include "api/forwarding/owner_application.hpp"

#include <algorithm>
#include <cassert>
#include <utility>
#include <variant>

#include "api/cors.hpp"
#include "api/envelope.hpp"
#include "api/forwarding/node_routes.hpp"

namespace api::forwarding {

namespace {

// As the application sees it. Views into `request` and `address`.
net::HttpRequest request_of_client(const net::HttpRequest& request, std::string_view address) {
    net::HttpRequest seen = request;
    seen.remote = address;
    std::erase_if(seen.headers, [](const net::HttpHeader& header) {
        return net::equal_ignoring_case(header.name, forwarded_field);
    });
    return seen;
}

}  // namespace

struct OwnerApplication::Ticket {
    std::optional<std::string> address;   // of the client of a forwarded request
    bool is_of_node = false;              // answered whether the lease is held or not
    std::shared_ptr<const void> inner{};  // of the application
};

// Each answer passes it, however late.
struct OwnerApplication::Guard {
    // The answer, or what is said instead of it while the lease is not held.
    [[nodiscard]] net::HttpResponse judge(const Ticket& ticket, const net::HttpRequest& request,
                                          net::HttpResponse response) const {
        if (ticket.is_of_node || parts.node.may_answer()) return response;
        return refusal(request, ticket.address.has_value());
    }
    [[nodiscard]] net::HttpResponse refusal(const net::HttpRequest& head, bool forwarded) const {
        net::HttpResponse response =
            with_cors(undecided_answer(head, make_call_id(parts.random)), cors_allow_origin);
        if (forwarded) response.headers.emplace_back(not_owner_field, "1");
        return response;
    }

    const Parts parts;
    const std::string cors_allow_origin;
};

// An exchange as the application gets it.
class OwnerApplication::Guarded : public net::HttpExchange::Source {
public:
    Guarded(std::shared_ptr<const Guard> guard, net::HttpExchange exchange)
        : guard_(std::move(guard)),
          exchange_(std::move(exchange)),
          ticket_(std::static_pointer_cast<const Ticket>(exchange_.ticket())) {
        assert(ticket_);
        if (ticket_->address) seen_ = request_of_client(exchange_.request(), *ticket_->address);
    }

    [[nodiscard]] const net::HttpRequest& request() const override {
        return seen_ ? *seen_ : exchange_.request();
    }
    [[nodiscard]] const std::shared_ptr<const void>& ticket() const override {
        return ticket_->inner;
    }
    void answer(std::optional<net::HttpResponse> response) override {
        net::HttpExchange exchange = std::move(exchange_);
        if (!response) return;  // dropped, as this one is now
        auto told = guard_->judge(*ticket_, exchange.request(), *std::move(response));
        exchange.answer(std::move(told));
    }
    void when_gone(std::function<void()> told) override { exchange_.when_gone(std::move(told)); }

private:
    const std::shared_ptr<const Guard> guard_;
    net::HttpExchange exchange_;
    const std::shared_ptr<const Ticket> ticket_;
    std::optional<net::HttpRequest> seen_;
};

OwnerApplication::OwnerApplication(Parts parts, Identity self, std::string cors_allow_origin)
    : guard_(std::make_shared<const Guard>(Guard{std::move(parts), std::move(cors_allow_origin)})),
      parts_(guard_->parts),
      self_(std::move(self)),
      forged_("forwarded_header_refused", parts_.logger, parts_.clock, ports::LogLevel::warning) {}

net::HeadVerdict OwnerApplication::before_body(const net::HttpRequest& head) {
    auto ticket = std::make_shared<Ticket>();
    if (auto refused = judge(head, *ticket)) return {.answer = std::move(refused)};
    net::HeadVerdict verdict =
        ticket->address ? parts_.application.before_body(request_of_client(head, *ticket->address))
                        : parts_.application.before_body(head);
    if (verdict.answer) {
        return {.answer = guard_->judge(*ticket, head, *std::move(verdict.answer))};
    }
    ticket->inner = std::move(verdict.ticket);
    return {.ticket = std::move(ticket), .is_brief = verdict.is_brief};
}

net::HttpResponse OwnerApplication::handle(const net::HttpRequest& request) {
    Ticket ticket;
    if (auto refused = judge(request, ticket)) return *std::move(refused);
    return guard_->judge(
        ticket, request,
        ticket.address ? parts_.application.handle(request_of_client(request, *ticket.address))
                       : parts_.application.handle(request));
}

void OwnerApplication::serve(net::HttpExchange exchange) {
    parts_.application.serve(
        net::HttpExchange(std::make_shared<Guarded>(guard_, std::move(exchange))));
}

net::HttpResponse OwnerApplication::unreadable(const net::HttpRequest& head,
                                               net::HttpProblem problem) {
    return parts_.application.unreadable(head, problem);
}

net::HttpResponse OwnerApplication::failed(const net::HttpRequest& request) {
    return parts_.application.failed(request);
}

std::optional<net::HttpResponse> OwnerApplication::judge(const net::HttpRequest& head,
                                                         Ticket& ticket) {
    ticket.is_of_node = action_of_node(head).has_value();
    Sender sender = sender_of(*parts_.keys, self_.node, head);
    if (std::holds_alternative<Forged>(sender)) {
        forged_.note("remote=" + std::string(head.remote), "no proof of the cluster's key");
    }
    auto* const forwarded = std::get_if<Forwarded>(&sender);
    if (forwarded == nullptr) return std::nullopt;
    // By a node that has not heard of this ownership yet, or sent again by somebody who listened.
    if (forwarded->instance != self_.instance) return guard_->refusal(head, true);
    ticket.address = std::move(forwarded->address);
    return std::nullopt;
}

}  // namespace api::forwarding
