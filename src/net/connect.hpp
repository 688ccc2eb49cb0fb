#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <memory>
#include <variant>

#include "net/client_context.hpp"
#include "net/stream.hpp"
#include "net/transport_error.hpp"
#include "net/url.hpp"

// Includes Beast: for the files of net only.
namespace net {

// Sockets wait in real time.
using Deadline = std::chrono::steady_clock::time_point;

// A server and the way to it.
struct Route {
    // `own`: whom TLS trusts here; null: those of the context. Throws std::runtime_error when TLS
    // fails.
    Route(Url target, ClientContext& context, TlsTrust* own = nullptr);

    // Whether the proxy only passes bytes on.
    [[nodiscard]] bool has_tunnel() const {
        return proxy != nullptr && (target.tls || target.websocket);
    }

    Url target;
    ClientContext& context;
    const Url* proxy;  // null: none
    TlsTrust* trust;   // null: plain
};

using Connected = std::variant<std::unique_ptr<Stream>, TransportError>;

// Name look-up, TCP, CONNECT of a proxy and TLS, or a socket file; each of several addresses gets
// its share of the time. The error is `unsent` or `stopped`. The stream has `deadline` for its end
// too.
[[nodiscard]] boost::asio::awaitable<Connected> connect(const Route& route, Deadline deadline);

}  // namespace net
