#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "net/client_context.hpp"
#include "net/transport_error.hpp"
#include "net/url.hpp"

namespace net {

struct WebSocketOptions {
    std::chrono::milliseconds open_timeout{5'000};  // connection and opening handshake
    // A silent peer is pinged after this and dropped when it is silent for as long again.
    std::chrono::milliseconds ping_interval{10'000};
    std::size_t message_bytes_max = 1U << 20U;
};

// The peer answered the opening handshake otherwise.
struct WebSocketRefusal {
    int status = 0;
    std::optional<std::string> retry_after;  // the field as it came
};

// A WebSocket (RFC 6455) to one URL, through a proxy where one is set; one connection at a time.
// Blocks the one thread that uses it; stop() is for any.
class WebSocket {
public:
    enum class End {
        timed_out,  // the deadline; it may be asked again
        stopped,
        silent,  // pings found no answer
        closed,
        broken,
        malformed,
        too_large,
    };
    // RFC 6455, 7.4.1
    enum class CloseCode : unsigned short { going_away = 1001, protocol_error = 1002 };

    using Deadline = std::chrono::steady_clock::time_point;
    using Opened = std::variant<std::monostate, WebSocketRefusal, TransportError>;

    // `context` null: one of its own. Throws std::runtime_error when TLS can not be set up.
    WebSocket(Url url, WebSocketOptions options, std::shared_ptr<ClientContext> context);
    WebSocket(const WebSocket&) = delete;
    WebSocket& operator=(const WebSocket&) = delete;
    ~WebSocket();  // stops

    // A new connection in place of the old one. The error is never `throttled`.
    [[nodiscard]] Opened open();

    // The next whole message; pings are answered on the way. After any end but `timed_out` the
    // connection is of no more use, and the peer was told why as far as it listens.
    [[nodiscard]] std::variant<std::string, End> receive(Deadline deadline);

    // Of text. Nothing when it is sent, which may take 5 s.
    [[nodiscard]] std::optional<End> send(const std::string& text);

    // A word of farewell, as far as the peer takes it at once.
    void close(CloseCode code);

    // Everything ends, for ever. Any thread but the I/O thread.
    void stop();

private:
    class Connection;
    class Impl;
    std::shared_ptr<ClientContext> context_;
    std::unique_ptr<Impl> impl_;  // goes away before the thread it runs on
};

}  // namespace net
