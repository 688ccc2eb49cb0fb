#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api/client.hpp"
#include "api/forwarding/forwarder.hpp"
#include "api/forwarding/owner_application.hpp"
#include "net/http_server.hpp"
#include "support/http_stub.hpp"
#include "support/virtual_time.hpp"

namespace forwarding_test {

using api_test::Answer;
using api_test::Call;
using api_test::Json;

inline domain::Bytes32 secret_of(std::uint8_t byte) {
    domain::Bytes32 secret{};
    secret.fill(byte);
    return secret;
}

inline std::shared_ptr<const cluster::Keys> keys_of(std::uint8_t byte) {
    return std::make_shared<cluster::Keys>(secret_of(byte));
}

inline cluster::Instance instance_of(std::uint8_t byte) {
    cluster::Instance instance{};
    instance.fill(byte);
    return instance;
}

inline cluster::Owner owner_at(std::string node, std::string url, std::uint8_t instance = 1) {
    return {.epoch = 7,
            .node = std::move(node),
            .instance = instance_of(instance),
            .url = std::move(url)};
}

// What the test says. Any thread.
class ScriptedNode : public cluster::NodeView {
public:
    explicit ScriptedNode(const std::string& name) {
        state_.book = "main";
        state_.node = name;
        state_.reaches_database = true;
    }

    [[nodiscard]] cluster::NodeState state() const override {
        const std::lock_guard lock(mutex_);
        cluster::NodeState told = state_;
        ++looks_;
        if (next_ && looks_ > 1) told.owner = next_;
        return told;
    }
    [[nodiscard]] bool may_answer() const override {
        const std::lock_guard lock(mutex_);
        return held_;
    }

    void change(const std::function<void(cluster::NodeState&)>& how) {
        const std::lock_guard lock(mutex_);
        how(state_);
    }
    // With `then`: only at the first look from now on; that one later.
    void owned_by(const cluster::Owner& owner,
                  const std::optional<cluster::Owner>& then = std::nullopt) {
        const std::lock_guard lock(mutex_);
        state_.owner = owner;
        looks_ = 0;
        next_ = then;
    }
    void hold_lease(bool held) {
        const std::lock_guard lock(mutex_);
        held_ = held;
    }

private:
    mutable std::mutex mutex_;
    mutable int looks_ = 0;
    cluster::NodeState state_;
    std::optional<cluster::Owner> next_;
    bool held_ = true;
};

// A request as an application saw it.
struct SeenRequest {
    std::string method;
    std::string target;
    std::vector<std::pair<std::string, std::string>> headers;
    std::string body;
    std::string remote;

    [[nodiscard]] std::vector<std::string> all(std::string_view name) const {
        std::vector<std::string> values;
        for (const auto& [one, value] : headers) {
            if (net::equal_ignoring_case(one, name)) values.push_back(value);
        }
        return values;
    }
};

inline SeenRequest seen_of(const net::HttpRequest& request) {
    SeenRequest seen{std::string(request.method),
                     std::string(request.target),
                     {},
                     std::string(request.body),
                     std::string(request.remote)};
    for (const auto& [name, value] : request.headers) seen.headers.emplace_back(name, value);
    return seen;
}

inline net::HttpResponse with_status(int status) {
    net::HttpResponse response;
    response.status = status;
    return response;
}

inline net::HttpResponse with_body(std::string body) {
    net::HttpResponse response;
    response.body = std::move(body);
    return response;
}

// Keeps what it was asked. Answers at once, or when the test does. Any thread.
class RecordingApplication : public net::HttpApplication {
public:
    using Script = std::function<net::HttpResponse(const net::HttpRequest&)>;

    explicit RecordingApplication(Script script =
                                      [](const net::HttpRequest&) { return with_body("{}"); })
        : script_(std::move(script)) {}

    net::HeadVerdict before_body(const net::HttpRequest& head) override {
        const std::lock_guard lock(mutex_);
        heads_.push_back(seen_of(head));
        if (head.path == "/early") return {.answer = with_status(418)};
        return {.ticket = std::make_shared<std::string>(head.remote)};
    }
    net::HttpResponse handle(const net::HttpRequest& request) override { return script_(request); }
    void serve(net::HttpExchange exchange) override {
        const net::HttpRequest& request = exchange.request();
        std::unique_lock lock(mutex_);
        requests_.push_back(seen_of(request));
        tickets_.push_back(*std::static_pointer_cast<const std::string>(exchange.ticket()));
        const bool held = held_;
        lock.unlock();
        if (!held) return exchange.answer(script_(request));
        exchange.when_gone([this] { note_gone(); });
        lock.lock();
        exchanges_.push_back(std::move(exchange));
        changed_.notify_all();
    }
    net::HttpResponse unreadable(const net::HttpRequest&, net::HttpProblem problem) override {
        return with_status(net::status_of(problem));
    }
    net::HttpResponse failed(const net::HttpRequest&) override { return with_status(500); }

    // Requests wait from now on.
    void hold() {
        const std::lock_guard lock(mutex_);
        held_ = true;
    }
    // Nothing: they did not come.
    [[nodiscard]] std::vector<net::HttpExchange> take(std::size_t count) {
        std::unique_lock lock(mutex_);
        static_cast<void>(changed_.wait_for(lock, std::chrono::seconds{10},
                                            [&] { return exchanges_.size() >= count; }));
        return std::exchange(exchanges_, {});
    }
    [[nodiscard]] bool await_gone() {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, std::chrono::seconds{10}, [&] { return gone_ > 0; });
    }
    [[nodiscard]] std::vector<SeenRequest> requests() const {
        const std::lock_guard lock(mutex_);
        return requests_;
    }
    [[nodiscard]] std::vector<SeenRequest> heads() const {
        const std::lock_guard lock(mutex_);
        return heads_;
    }
    [[nodiscard]] std::vector<std::string> tickets() const {
        const std::lock_guard lock(mutex_);
        return tickets_;
    }

private:
    void note_gone() {
        const std::lock_guard lock(mutex_);
        ++gone_;
        changed_.notify_all();
    }

    const Script script_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    bool held_ = false;
    int gone_ = 0;
    std::vector<SeenRequest> heads_;
    std::vector<SeenRequest> requests_;
    std::vector<std::string> tickets_;
    std::vector<net::HttpExchange> exchanges_;
};

inline net::HttpOptions on_some_port() {
    net::HttpOptions options;
    options.port = 0;
    options.workers = 2;
    return options;
}

// An application behind its server.
class Served {
public:
    explicit Served(net::HttpApplication& application) : server_(on_some_port(), application) {
        server_.start();
    }
    [[nodiscard]] int port() const { return server_.port(); }
    [[nodiscard]] std::string url() const {
        return "http://127.0.0.1:" + std::to_string(server_.port());
    }

private:
    net::HttpServer server_;
};

// Time, chance and the log of one node.
struct Surroundings {
    support::VirtualClock clock;
    support::SeededRandom random{1};
    support::RecordingLogger logger;
};

// A node that follows, and a client of it.
class FollowingNode {
public:
    explicit FollowingNode(const std::string& name, api::forwarding::ForwarderOptions options = {},
                           const api::Options& routes = {}, std::uint8_t key = 1)
        : view(name),
          forwarder({view, keys_of(key), around.clock, around.random, around.logger,
                     std::make_shared<net::ClientContext>()},
                    named(std::move(options), name), routes),
          served(forwarder),
          client(served.port()) {}

    Answer send(const Call& call) { return client.ask(call); }
    Answer get(const std::string& target) { return send({"GET", target, {}, {}}); }
    Answer post(const std::string& target, const std::string& body = "{}") {
        return send({"POST", target, body});
    }
    // Requests that are over may be counted for a moment.
    [[nodiscard]] bool is_at_rest() const {
        for (int look = 0; look < 10'000 && forwarder.under_way() > 0; ++look) {
            std::this_thread::yield();
        }
        return forwarder.under_way() == 0;
    }

    Surroundings around;
    ScriptedNode view;
    api::forwarding::Forwarder forwarder;
    Served served;
    api_test::Client client;

private:
    static api::forwarding::ForwarderOptions named(api::forwarding::ForwarderOptions options,
                                                   const std::string& name) {
        options.node = name;
        return options;
    }
};

// An owner around an application.
class OwningNode {
public:
    explicit OwningNode(net::HttpApplication& application, std::string name = "a",
                        std::uint8_t instance = 1, std::uint8_t key = 1,
                        std::string cors_allow_origin = {})
        : view(name),
          name_(std::move(name)),
          instance_(instance),
          owner({application, view, keys_of(key), around.clock, around.random, around.logger},
                {name_, instance_of(instance)}, std::move(cors_allow_origin)),
          served(owner),
          client(served.port()) {
        view.change([](cluster::NodeState& state) { state.role = cluster::Role::owner; });
    }

    [[nodiscard]] cluster::Owner as_owner() const {
        return owner_at(name_, served.url(), instance_);
    }

    Surroundings around;
    ScriptedNode view;

private:
    const std::string name_;
    const std::uint8_t instance_;

public:
    api::forwarding::OwnerApplication owner;
    Served served;
    api_test::Client client;
};

// Of the relayer API: what a client is told while nobody decides.
inline bool is_undecided(const Answer& answer) {
    return answer.status == 503 && answer.header("Retry-After") == "1" &&
           answer.label() == "gateway_not_reachable" &&
           answer.headers.count("Posthouse-Not-Owner") == 0;
}

}  // namespace forwarding_test
