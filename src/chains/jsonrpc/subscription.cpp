#include "chains/jsonrpc/subscription.hpp"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <utility>

#include "chains/jsonrpc/node_error.hpp"
#include "chains/jsonrpc/parse.hpp"
#include "chains/jsonrpc/retry_after.hpp"

namespace chains::jsonrpc {
namespace {

constexpr std::chrono::seconds open_max{5};
constexpr std::chrono::seconds reply_max{10};

constexpr unsigned going_away = 1001;
constexpr unsigned protocol_error = 1002;
constexpr unsigned message_too_big = 1009;

Deadline from_now(std::chrono::steady_clock::duration time) {
    return std::chrono::steady_clock::now() + time;
}

Url websocket_url(const std::string& text) {
    auto url = parse_url(text);
    if (!url || !url->websocket) {
        throw std::invalid_argument("the URL of a subscription is no ws or wss URL");
    }
    return std::move(*url);
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
    const auto id = message.find("id");
    return id != message.end() && *id == 1 && !is_notification(message);
}

std::optional<Json> object_in(std::string text) {
    auto message = parse(std::move(text));
    return message && message->is_object() ? std::move(message) : std::nullopt;
}

}  // namespace

Subscription::Subscription(SubscriptionOptions options, const engine::Clock& clock,
                           std::function<void()> nudge)
    : options_(std::move(options)),
      clock_(clock),
      nudge_(std::move(nudge)),
      url_(websocket_url(options_.url)),
      tls_(url_.tls ? std::make_unique<const TlsContext>() : nullptr),
      thread_([this] { run(); }) {}

Subscription::~Subscription() {
    stop();
}

void Subscription::stop() {
    stop_.set();
    const std::lock_guard lock(join_mutex_);
    if (thread_.joinable()) thread_.join();
}

std::optional<std::string> Subscription::trouble() const {
    const std::lock_guard lock(mutex_);
    return trouble_;
}

void Subscription::note_trouble(std::optional<std::string> text) {
    const std::lock_guard lock(mutex_);
    trouble_ = std::move(text);
}

void Subscription::run() {
    while (!stop_.is_set()) {
        Ended ended = after("out of memory");
        try {
            ended = watch_once();
        } catch (const std::exception&) {  // of memory or random bytes
        }
        if (!ended.text.empty()) note_trouble(std::move(ended.text));
        if (ended.pause.count() > 0 &&
            stop_.wait(-1, 0, from_now(ended.pause)) == Wait::signalled) {
            return;
        }
    }
}

Subscription::Ended Subscription::watch_once() {
    auto opened = WebSocket::open(url_, tls_.get(), from_now(open_max), stop_,
                                  options_.message_bytes_max, clock_.wall());
    if (auto* const trouble = std::get_if<Trouble>(&opened)) {
        return {std::move(trouble->text), std::max(trouble->wait, options_.retry_interval)};
    }
    WebSocket& socket = *std::get<std::unique_ptr<WebSocket>>(opened);
    if (auto ended = subscribe(socket)) return std::move(*ended);
    note_trouble(std::nullopt);
    nudge_();
    return watch(socket);
}

std::optional<Subscription::Ended> Subscription::subscribe(WebSocket& socket) {
    if (const auto end = socket.send(Opcode::text, request(options_))) {
        return after(socket, *end);
    }
    return await_reply(socket);
}

std::optional<Subscription::Ended> Subscription::await_reply(WebSocket& socket) {
    const Deadline deadline = from_now(reply_max);
    for (;;) {
        auto received = socket.receive(deadline);
        if (const auto* const end = std::get_if<WebSocket::End>(&received)) {
            return after(socket, *end);
        }
        const auto message = object_in(std::get<std::string>(std::move(received)));
        if (!message) return after(socket, WebSocket::End::malformed);
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

Subscription::Ended Subscription::watch(WebSocket& socket) {
    const Deadline end_of_life = from_now(options_.recycle_interval);
    Deadline ping_due = from_now(options_.ping_interval);
    for (;;) {
        auto received = socket.receive(std::min(ping_due, end_of_life));
        if (auto* const text = std::get_if<std::string>(&received)) {
            const auto message = object_in(std::move(*text));
            if (!message) return after(socket, WebSocket::End::malformed);
            if (is_notification(*message)) nudge_();
            continue;
        }
        if (const auto end = std::get<WebSocket::End>(received); end != WebSocket::End::timed_out) {
            return after(socket, end);
        }
        if (std::chrono::steady_clock::now() >= end_of_life) {
            socket.close(going_away);
            return {{}, domain::Milliseconds{0}};
        }
        if (!socket.has_heard()) return after("connection silent");
        if (const auto end = socket.send(Opcode::ping, {})) {
            return after(socket, *end);
        }
        ping_due = from_now(options_.ping_interval);
    }
}

Subscription::Ended Subscription::after(std::string text) const {
    return {std::move(text), options_.retry_interval};
}

Subscription::Ended Subscription::after(WebSocket& socket, WebSocket::End end) const {
    switch (end) {
        case WebSocket::End::timed_out:
            return after("no answer to the subscription");
        case WebSocket::End::stopped:
            return after("stopped");
        case WebSocket::End::closed:
            return after("connection closed");
        case WebSocket::End::broken:
            break;
        case WebSocket::End::malformed:
            socket.close(protocol_error);
            return after("no WebSocket or no JSON-RPC");
        case WebSocket::End::too_large:
            socket.close(message_too_big);
            return after("message too large");
    }
    return after("connection broken");
}

}  // namespace chains::jsonrpc
