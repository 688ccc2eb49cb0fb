#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "domain/time.hpp"
#include "chains/jsonrpc/connection.hpp"
#include "chains/jsonrpc/node.hpp"
#include "chains/jsonrpc/websocket_frame.hpp"

namespace chains::jsonrpc {

// A WebSocket to a node (RFC 6455). One thread; `stop` ends every wait.
class WebSocket {
public:
    enum class End { timed_out, stopped, closed, broken, malformed, too_large };

    // Connection and opening handshake. `now`: for a Retry-After.
    [[nodiscard]] static std::variant<std::unique_ptr<WebSocket>, Trouble> open(
        const Url& url, const TlsContext* tls, Deadline deadline, const Signal& stop,
        std::size_t message_bytes_max, domain::Timestamp now);

    // The next whole message, of one frame or several; pings are answered on the way. After
    // `timed_out` it may be asked again, after any other end the connection is of no more use.
    [[nodiscard]] std::variant<std::string, End> receive(Deadline deadline);

    // Nothing when it is sent, which may take 5 s.
    [[nodiscard]] std::optional<End> send(Opcode opcode, std::string_view payload);

    // A word of farewell (7.4.1), as far as the peer takes it at once.
    void close(unsigned code);

    // Whether anything at all has come since this was last asked.
    [[nodiscard]] bool has_heard();

private:
    WebSocket(std::unique_ptr<Connection> connection, const Signal& stop,
              std::size_t message_bytes_max, std::string arrived);

    // Adds a frame to the message; the end that it means, or nothing.
    [[nodiscard]] std::optional<End> take(const Frame& frame);
    [[nodiscard]] std::optional<End> take_control(const Frame& frame);
    [[nodiscard]] std::optional<End> read_more(Deadline deadline);
    [[nodiscard]] std::optional<End> write(Opcode opcode, std::string_view payload,
                                           std::chrono::milliseconds time);

    const std::unique_ptr<Connection> connection_;
    const Signal& stop_;
    const std::size_t message_bytes_max_;
    std::string arrived_;
    std::string message_;
    bool in_message_ = false;  // more frames of it have to come
    bool is_whole_ = false;
    bool heard_ = true;
};

}  // namespace chains::jsonrpc
