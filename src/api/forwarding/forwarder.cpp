#include "api/forwarding/forwarder.hpp"

#include <algorithm>
#include <functional>
#include <future>
#include <mutex>
#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

#include "api/api_error.hpp"
#include "api/application.hpp"
#include "api/cluster_member.hpp"
#include "api/cors.hpp"
#include "api/envelope.hpp"
#include "api/forwarding/forwarded_header.hpp"
#include "api/forwarding/node_routes.hpp"
#include "api/forwarding/passed_on.hpp"
#include "api/share_answers.hpp"
#include "api/wait.hpp"

namespace api::forwarding {

namespace {

constexpr int tries_max = 2;

// Ends the exchange with the owner when the client hangs up. Any thread.
class HangUp {
public:
    void note() {
        std::function<void()> cancel;
        {
            const std::lock_guard lock(mutex_);
            gone_ = true;
            cancel = cancel_;
        }
        if (cancel) cancel();
    }
    // What ends the exchange of this try; the next one may have begun already.
    void ends(int tried, std::function<void()> cancel) {
        {
            const std::lock_guard lock(mutex_);
            if (tried < tried_) return;
            tried_ = tried;
            if (!gone_) {
                cancel_ = std::move(cancel);
                return;
            }
        }
        cancel();
    }
    [[nodiscard]] bool is_noted() const {
        const std::lock_guard lock(mutex_);
        return gone_;
    }

private:
    mutable std::mutex mutex_;
    bool gone_ = false;
    int tried_ = 0;
    std::function<void()> cancel_;
};

std::optional<std::chrono::seconds> wait_of(const net::HttpRequest& request,
                                            std::chrono::seconds longest) {
    const std::optional<RouteMatch> match = find_route(request.method, request.path);
    if (!match || match->route->action != Action::poll) return std::nullopt;
    const Wait wait = read_wait(request, longest);
    const auto* const seconds = std::get_if<std::optional<std::chrono::seconds>>(&wait);
    return seconds != nullptr ? *seconds : std::nullopt;
}

// The first `wait` counts, before a header.
std::string without_wait(std::string_view target) {
    const std::size_t query = std::min(target.find('?'), target.size());
    std::string changed(target.substr(0, query));
    changed += "?wait=0";
    if (query < target.size()) changed.append("&").append(target.substr(query + 1));
    return changed;
}

}  // namespace

// One of the exchanges that may be under way; given back when it goes.
class Forwarder::Place {
public:
    explicit Place(std::atomic<std::size_t>& taken) : taken_(&taken), number_(++taken) {}
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place() { give_back(); }

    [[nodiscard]] std::size_t number() const { return number_; }
    void give_back() {
        if (auto* const taken = std::exchange(taken_, nullptr)) --*taken;
    }

private:
    std::atomic<std::size_t>* taken_;
    const std::size_t number_;
};

// A request on its way. One thread at a time, but for `hang_up`.
struct Forwarder::Passage {
    Passage(std::atomic<std::size_t>& taken, const net::HttpRequest& what, net::Respond whereto)
        : place(taken), request(what), respond(std::move(whereto)) {}

    void give_back() {
        poll.reset();
        place.give_back();
    }

    Place place;
    std::optional<Place> poll{};      // while it waits
    const net::HttpRequest& request;  // there until it is answered
    std::string target{request.target};
    net::Respond respond;
    std::chrono::milliseconds patience{0};
    net::ClientRequest outgoing{};
    std::optional<cluster::Owner> asked{};
    int tries = 0;
    std::shared_ptr<HangUp> hang_up = std::make_shared<HangUp>();
};

Forwarder::Forwarder(Parts parts, ForwarderOptions options, Options routes)
    : parts_(std::move(parts)),
      options_(std::move(options)),
      routes_(std::move(routes)),
      unanswered_("forward_failed", parts_.logger, parts_.clock, ports::LogLevel::warning),
      forged_("forwarded_header_refused", parts_.logger, parts_.clock, ports::LogLevel::warning),
      failed_("request_failed", parts_.logger, parts_.clock),
      links_(parts_.context, {.ca_file = options_.ca_file,
                              .answer_bytes_max = options_.answer_bytes_max,
                              .idle_max = options_.connections_kept}) {}

Forwarder::~Forwarder() = default;

net::HeadVerdict Forwarder::before_body(const net::HttpRequest& head) {
    return {.answer = answer_to_head(head)};
}

net::HttpResponse Forwarder::handle(const net::HttpRequest& request) {
    if (auto early = answer_to_head(request)) return *std::move(early);
    const auto promise = std::make_shared<std::promise<net::HttpResponse>>();
    pass_on(request,
            [promise](net::HttpResponse response) { promise->set_value(std::move(response)); }, {});
    return promise->get_future().get();
}

void Forwarder::serve(net::HttpExchange exchange) {
    const auto shared = std::make_shared<net::HttpExchange>(std::move(exchange));
    pass_on(
        shared->request(),
        [shared](net::HttpResponse response) { shared->answer(std::move(response)); },
        [shared](std::function<void()> told) { shared->when_gone(std::move(told)); });
}

net::HttpResponse Forwarder::unreadable(const net::HttpRequest& head, net::HttpProblem problem) {
    return Application::unreadable_answer(routes_, head, problem, make_call_id(parts_.random));
}

net::HttpResponse Forwarder::failed(const net::HttpRequest& request) {
    const std::string call_id = make_call_id(parts_.random);
    failed_.write(call_id, reason_of_current_exception());
    return with_cors(is_share_path(request.path) ? ShareAnswers::internal_error()
                                                 : failed_answer(call_id, internal_error()),
                     routes_.cors_allow_origin);
}

void Forwarder::look_at_owner() {
    if (const auto now = owner()) links_.end_all_but(*now);
}

void Forwarder::stop() {
    links_.end_all();
}

std::optional<net::HttpResponse> Forwarder::answer_to_head(const net::HttpRequest& head) {
    if (const auto action = action_of_node(head)) {
        return with_cors(answer_of_node(*action), routes_.cors_allow_origin);
    }
    const Sender sender = sender_of(*parts_.keys, options_.node, head);
    // A node takes this one for the owner. It looks again; nobody passes a request on twice.
    if (const auto* const forwarded = std::get_if<Forwarded>(&sender)) {
        unanswered_.note("node=" + forwarded->node, "it takes this node for the owner");
        net::HttpResponse response = refusal(head);
        response.headers.emplace_back(not_owner_field, "1");
        return response;
    }
    if (std::holds_alternative<Forged>(sender)) {
        forged_.note("remote=" + std::string(head.remote), "no proof of the cluster's key");
    }
    // Nodes that do not believe each other.
    if (was_passed_on_by(options_.node, head)) {
        unanswered_.note("remote=" + std::string(head.remote), "this node has passed it on before");
        return refusal(head);
    }
    return std::nullopt;
}

net::HttpResponse Forwarder::answer_of_node(Action action) const {
    if (action == Action::liveness) return alive_answer();
    if (action == Action::version) return version_answer(routes_);
    const cluster::NodeState state = parts_.node.state();
    return health_answer(dependencies_of(state), cluster_member(state, parts_.clock.wall()));
}

net::HttpResponse Forwarder::refusal(const net::HttpRequest& head) {
    return with_cors(undecided_answer(head, make_call_id(parts_.random)),
                     routes_.cors_allow_origin);
}

void Forwarder::pass_on(const net::HttpRequest& request, net::Respond respond,
                        const net::WhenGone& when_gone) {
    const auto passage = std::make_shared<Passage>(under_way_, request, std::move(respond));
    if (passage->place.number() > options_.exchanges_max) {
        refuse(*passage, "as many requests as may be are on their way");
        return;
    }
    auto wait = wait_of(request, routes_.long_poll_wait_max);
    if (wait && passage->poll.emplace(waiting_polls_).number() > options_.exchanges_max * 3 / 4) {
        passage->poll.reset();
        passage->target = without_wait(request.target);
        wait.reset();
    }
    passage->patience = options_.patience + wait.value_or(std::chrono::seconds{0});
    // All others are answered soon.
    if (wait && when_gone) when_gone([hang_up = passage->hang_up] { hang_up->note(); });
    ask_owner(passage, {});
}

void Forwarder::ask_owner(const std::shared_ptr<Passage>& passage, const std::string& problem) {
    auto now = owner();
    if (!now) return refuse(*passage, problem.empty() ? "nobody owns the book" : problem);
    if (passage->asked && is_same_owner(*now, *passage->asked)) return refuse(*passage, problem);
    const auto link = links_.to(*now);
    passage->asked = std::move(now);
    if (const auto* const reason = std::get_if<std::string>(&link)) {
        return refuse(*passage, *reason);
    }
    const net::HttpRequest& request = passage->request;
    const std::string_view method = request.method;
    net::ClientRequest& outgoing = passage->outgoing;
    outgoing = {.method = method,
                .target = passage->target,
                .body = request.body,
                .headers = fields_to_owner(request, options_.node),
                .passed_on = true,
                .repeatable = method == "GET" || method == "HEAD" || method == "OPTIONS"};
    net::HttpRequest proven;
    proven.method = method;
    proven.target = passage->target;
    outgoing.headers.emplace_back(forwarded_field,
                                  forwarded_value(*parts_.keys,
                                                  {.node = options_.node,
                                                   .address = std::string(request.remote),
                                                   .instance = passage->asked->instance},
                                                  passage->asked->node, proven));
    const int tried = ++passage->tries;
    auto cancel = std::get<std::shared_ptr<net::Client>>(link)->start(
        outgoing, passage->patience,
        [this, passage](net::ClientResult result) { answered(passage, std::move(result)); });
    passage->hang_up->ends(tried, std::move(cancel));
}

void Forwarder::answered(const std::shared_ptr<Passage>& passage, net::ClientResult result) try {
    auto* const response = std::get_if<net::ClientResponse>(&result);
    if (response != nullptr && !is_not_owner(*response)) {
        passage->give_back();
        passage->respond(answer_of_owner(std::move(*response), passage->request.method == "HEAD"));
        return;
    }
    const auto* const error = std::get_if<net::TransportError>(&result);
    const std::string problem = error != nullptr ? error->text : "it is not the owner any more";
    // Anything else may have been taken: the client asks again, and a request is known again.
    const bool was_not_taken = error == nullptr || error->kind == net::TransportError::Kind::unsent;
    if (was_not_taken && passage->tries < tries_max) return ask_owner(passage, problem);
    refuse(*passage, problem);
} catch (...) {
    // No memory. The dropped exchange is answered as failed.
    passage->respond = {};
}

void Forwarder::refuse(Passage& passage, const std::string& problem) {
    if (!passage.hang_up->is_noted()) {
        unanswered_.note(passage.asked ? "owner=" + passage.asked->node : "owner=none", problem);
    }
    passage.give_back();
    passage.respond(refusal(passage.request));
}

std::optional<cluster::Owner> Forwarder::owner() const {
    std::optional<cluster::Owner> owner = parts_.node.state().owner;
    const bool is_reached =
        owner && owner->epoch > 0 && !owner->url.empty() && owner->node != options_.node;
    return is_reached ? std::move(owner) : std::nullopt;
}

}  // namespace api::forwarding
