#include "chains/jsonrpc/subscription.hpp"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <utility>

#include "chains/jsonrpc/decode.hpp"
#include "chains/jsonrpc/node_error.hpp"
#include "chains/jsonrpc/parse.hpp"
#include "chains/jsonrpc/retry_after.hpp"

namespace chains::jsonrpc {
namespace {

using End = net::WebSocket::End;
using CloseCode = net::WebSocket::CloseCode;

constexpr std::chrono::seconds reply_max{10};

net::WebSocket::Deadline from_now(std::chrono::steady_clock::duration time) {
    return std::chrono::steady_clock::now() + time;
}

net::Url websocket_url(const std::string& text) {
    auto url = net::parse_url(text);
    if (!url || !url->websocket) {
        throw std::invalid_argument("the URL of a subscription is no ws or wss URL");
    }
    return std::move(*url);
}

net::WebSocketOptions websocket_options(const SubscriptionOptions& options) {
    net::WebSocketOptions chosen;
    chosen.ping_interval = options.ping_interval;
    chosen.message_bytes_max = options.message_bytes_max;
    return chosen;
}

std::string request(const SubscriptionOptions& options) {
    Json filter = {{"address", Json::array()}};
    for (const domain::Address& address : options.addresses) {
        filter["address"].push_back("0x" + domain::to_hex(address));
    }
    Json any = Json::array();
    for (const domain::Bytes32& topic : options.topics) any.push_back("0x" + domain::to_hex(topic));
    if (!any.empty()) filter["topics"] = Json::array({any});
    return Json{{"jsonrpc", "2.0"},
                {"id", 1},
                {"method", "eth_subscribe"},
                {"params", Json::array({"logs", filter})}}
        .dump();
}

bool is_notification(const Json& message) {
    const auto method = message.find("method");
    return method != message.end() && *method == "eth_subscription";
}

bool is_reply(const Json& message) {
    if (is_notification(message)) return false;
    const Json& id = member(message, "id");
    // Relays turn 1 into "1" (field report 100); who could not read the request knows no id.
    return id == 1 || id == "1" || (id.is_null() && message.contains("error"));
}

std::optional<Json> object_in(std::string text) {
    auto message = parse(std::move(text));
    return message && message->is_object() ? std::move(message) : std::nullopt;
}

}  // namespace

Subscription::Subscription(SubscriptionOptions options, const ports::Clock& clock,
                           std::function<void()> wake)
    : options_(std::move(options)),
      clock_(clock),
      wake_(std::move(wake)),
      socket_(websocket_url(options_.url), websocket_options(options_), options_.context),
      thread_([this] { run(); }) {}

Subscription::~Subscription() {
    stop();
}

void Subscription::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopped_ = true;
    }
    changed_.notify_all();
    socket_.stop();
    const std::lock_guard lock(join_mutex_);
    if (thread_.joinable()) thread_.join();
}

std::optional<std::string> Subscription::problem() const {
    const std::lock_guard lock(mutex_);
    return problem_;
}

void Subscription::note_problem(std::optional<std::string> text) {
    const std::lock_guard lock(mutex_);
    problem_ = std::move(text);
}

void Subscription::run() {
    for (;;) {
        Ended ended = after("out of memory");
        try {
            ended = watch_once();
        } catch (const std::exception&) {  // of memory or random bytes
        }
        if (!ended.text.empty()) note_problem(std::move(ended.text));
        if (!pause(ended.pause)) return;
    }
}

bool Subscription::pause(domain::Milliseconds time) {
    std::unique_lock lock(mutex_);
    return !changed_.wait_for(lock, time, [this] { return stopped_; });
}

Subscription::Ended Subscription::watch_once() {
    const auto opened = socket_.open();
    if (const auto* const error = std::get_if<net::TransportError>(&opened)) {
        return after(error->text);
    }
    if (const auto* const refusal = std::get_if<net::WebSocketRefusal>(&opened)) {
        return after(*refusal);
    }
    if (auto ended = subscribe()) return std::move(*ended);
    note_problem(std::nullopt);
    wake_();
    return watch();
}

std::optional<Subscription::Ended> Subscription::subscribe() {
    if (const auto end = socket_.send(request(options_))) return after(*end);
    return await_reply();
}

std::optional<Subscription::Ended> Subscription::await_reply() {
    const auto deadline = from_now(reply_max);
    for (;;) {
        auto received = socket_.receive(deadline);
        if (const auto* const end = std::get_if<End>(&received)) return after(*end);
        const auto message = object_in(std::get<std::string>(std::move(received)));
        if (!message) {
            socket_.close(CloseCode::protocol_error);
            return after(End::malformed);
        }
        if (!is_reply(*message)) continue;
        if (const auto result = message->find("result");
            result != message->end() && result->is_string()) {
            return std::nullopt;
        }
        Ended refused = after("subscription refused");
        const auto error = message->find("error");
        const auto read = error == message->end() ? std::nullopt : read_node_error(*error, {});
        if (read && is_throttling(*read)) {
            refused.pause = std::max(refused.pause, throttle_wait(std::nullopt, clock_.wall()));
        }
        return refused;
    }
}

Subscription::Ended Subscription::watch() {
    const auto end_of_life = from_now(options_.recycle_interval);
    for (;;) {
        auto received = socket_.receive(end_of_life);
        const bool is_over = std::chrono::steady_clock::now() >= end_of_life;
        if (auto* const text = std::get_if<std::string>(&received)) {
            const auto message = object_in(std::move(*text));
            if (!message) {
                socket_.close(CloseCode::protocol_error);
                return after(End::malformed);
            }
            if (is_notification(*message)) wake_();
        } else if (const End end = std::get<End>(received); end != End::timed_out) {
            return after(end);
        }
        if (is_over) {
            socket_.close(CloseCode::going_away);
            return {{}, domain::Milliseconds{0}};
        }
    }
}

Subscription::Ended Subscription::after(std::string text) const {
    return {std::move(text), options_.retry_interval};
}

Subscription::Ended Subscription::after(End end) const {
    switch (end) {
        case End::timed_out:
            return after("no answer to the subscription");
        case End::stopped:
            return after("stopped");
        case End::silent:
            return after("connection silent");
        case End::closed:
            return after("connection closed");
        case End::broken:
            break;
        case End::malformed:
            return after("no WebSocket or no JSON-RPC");
        case End::too_large:
            return after("message too large");
    }
    return after("connection broken");
}

Subscription::Ended Subscription::after(const net::WebSocketRefusal& refusal) const {
    const int status = refusal.status;
    if (status != 429 && (status != 503 || !refusal.retry_after)) {
        return after("HTTP " + std::to_string(status));
    }
    const auto wait = throttle_wait(refusal.retry_after, clock_.wall());
    return {net::throttled(wait).text, std::max(wait, options_.retry_interval)};
}

}  // namespace chains::jsonrpc
