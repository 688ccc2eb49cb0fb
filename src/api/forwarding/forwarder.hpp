#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "api/forwarding/owner_links.hpp"
#include "api/options.hpp"
#include "api/router.hpp"
#include "api/throttled_log.hpp"
#include "cluster/key.hpp"
#include "cluster/node_state.hpp"
#include "net/client.hpp"
#include "net/http_application.hpp"
#include "ports/clock.hpp"
#include "ports/logger.hpp"
#include "ports/random.hpp"

namespace api::forwarding {

struct ForwarderOptions {
    std::string node;       // the own name
    std::string ca_file{};  // as cluster::Options has it
    // On their way to the owner at the same time; each has a connection. Less than
    // `connections_per_address_max` of the owner's server. Polls that wait have three quarters of
    // it: one too many is passed on without its wait, as the owner answers one too many at once.
    std::size_t exchanges_max = 2'048;
    std::size_t connections_kept = 256;  // for later requests, when there is nothing to do
    // Of the body of one answer. Twice what a chain's node may say of one in hexadecimal digits.
    std::size_t answer_bytes_max = std::size_t{32} << 20U;
    // For an answer, beside the time that a poll wants to wait.
    std::chrono::milliseconds patience{30'000};
};

// What a node serves that is not the owner: it answers for itself, and has everything else answered
// by the owner, once more by another one if nobody has taken the request. It holds no thread
// meanwhile. What it can not have answered is 503. Any thread.
class Forwarder : public net::HttpApplication {
public:
    // All of it outlives the forwarder.
    struct Parts {
        const cluster::NodeView& node;
        std::shared_ptr<const cluster::Keys> keys;
        const ports::Clock& clock;
        ports::Random& random;
        ports::Logger& logger;
        std::shared_ptr<net::ClientContext> context;
    };

    // `routes`: as the owner has them.
    Forwarder(Parts parts, ForwarderOptions options, Options routes);
    Forwarder(const Forwarder&) = delete;
    Forwarder& operator=(const Forwarder&) = delete;
    ~Forwarder() override;  // what is on its way is answered by 503 before

    [[nodiscard]] net::HeadVerdict before_body(const net::HttpRequest& head) override;
    [[nodiscard]] net::HttpResponse handle(const net::HttpRequest& request) override;
    void serve(net::HttpExchange exchange) override;
    [[nodiscard]] net::HttpResponse unreadable(const net::HttpRequest& head,
                                               net::HttpProblem problem) override;
    [[nodiscard]] net::HttpResponse failed(const net::HttpRequest& request) override;

    // When the node may have heard of another owner: whoever still waits for the former one, which
    // may hang, is answered by 503.
    void look_at_owner();
    // All that is on its way is answered by 503, and so is all that comes later.
    void stop();

    [[nodiscard]] std::size_t under_way() const { return under_way_; }

private:
    class Place;
    struct Passage;

    [[nodiscard]] std::optional<net::HttpResponse> answer_to_head(const net::HttpRequest& head);
    [[nodiscard]] net::HttpResponse answer_of_node(Action action) const;
    [[nodiscard]] net::HttpResponse refusal(const net::HttpRequest& head);
    void pass_on(const net::HttpRequest& request, net::Respond respond,
                 const net::WhenGone& when_gone);
    // `problem`: why the owner asked before is not the one.
    void ask_owner(const std::shared_ptr<Passage>& passage, const std::string& problem);
    void answered(const std::shared_ptr<Passage>& passage, net::ClientResult result);
    void refuse(Passage& passage, const std::string& problem);
    // Where other nodes reach it; nothing: nobody, or this node itself.
    [[nodiscard]] std::optional<cluster::Owner> owner() const;

    const Parts parts_;
    const ForwarderOptions options_;
    const Options routes_;
    std::atomic<std::size_t> under_way_{0};
    std::atomic<std::size_t> waiting_polls_{0};
    ThrottledLog unanswered_;
    ThrottledLog forged_;
    ThrottledLog failed_;
    // Last: what ends with it answers through the rest.
    OwnerLinks links_;
};

}  // namespace api::forwarding
