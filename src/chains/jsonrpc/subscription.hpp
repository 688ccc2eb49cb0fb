#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "domain/bytes.hpp"
#include "domain/time.hpp"
#include "net/websocket.hpp"
#include "ports/clock.hpp"

namespace chains::jsonrpc {

struct SubscriptionOptions {
    std::string url;  // ws or wss
    std::vector<domain::Address> addresses;
    std::vector<domain::Bytes32> topics;       // one of them, as the first
    domain::Milliseconds retry_interval{500};  // after an end that we did not want
    domain::Milliseconds recycle_interval = std::chrono::minutes{30};  // then a new connection
    domain::Milliseconds ping_interval{10'000};  // a peer that is silent for two of them is dropped
    std::size_t message_bytes_max = 1U << 20U;   // a larger message ends the connection
    std::shared_ptr<net::ClientContext> context{};  // null: one of its own
};

// Watches the logs of contracts over WebSocket (eth_subscribe) and says when it is worth reading
// them by other means: at each notification, and each time a subscription was made, as logs before
// it are not announced. It carries no logs itself, so nothing that gets lost here is lost.
class Subscription {
public:
    // Starts its thread, on which `wake` is called; that must neither block nor throw. Throws
    // std::invalid_argument, without the URL, when it is none.
    Subscription(SubscriptionOptions options, const ports::Clock& clock,
                 std::function<void()> wake);
    Subscription(const Subscription&) = delete;
    Subscription& operator=(const Subscription&) = delete;
    ~Subscription();  // stops

    // Any thread but the one of `wake`, which has ended afterwards.
    void stop();

    // Any thread. Nothing while subscribed, else one line without secrets.
    [[nodiscard]] std::optional<std::string> problem() const;

private:
    // How one connection ended.
    struct Ended {
        std::string text;
        domain::Milliseconds pause;
    };

    void run();
    [[nodiscard]] Ended watch_once();
    [[nodiscard]] std::optional<Ended> subscribe();
    [[nodiscard]] std::optional<Ended> await_reply();
    [[nodiscard]] Ended watch();
    [[nodiscard]] Ended after(std::string text) const;
    [[nodiscard]] Ended after(net::WebSocket::End end) const;
    [[nodiscard]] Ended after(const net::WebSocketRefusal& refusal) const;
    // Before the next connection; false once stopped.
    [[nodiscard]] bool pause(domain::Milliseconds time);
    void note_problem(std::optional<std::string> text);

    const SubscriptionOptions options_;
    const ports::Clock& clock_;
    const std::function<void()> wake_;
    net::WebSocket socket_;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    bool stopped_ = false;
    std::optional<std::string> problem_{"not yet connected"};

    std::mutex join_mutex_;
    std::thread thread_;
};

}  // namespace chains::jsonrpc
