#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "chains/jsonrpc/connection.hpp"
#include "chains/jsonrpc/resolve.hpp"
#include "chains/jsonrpc/trouble.hpp"

namespace chains::jsonrpc {
namespace {

using Opened = std::variant<Descriptor, Trouble>;

Trouble unsent(std::string text) {
    return trouble(Trouble::Kind::unsent, std::move(text));
}

constexpr const char* no_connection_in_time = "no connection in time";

std::string refusal(int error) {
    switch (error) {
        case ECONNREFUSED:
            return "connection refused";
        case ENETUNREACH:
        case EHOSTUNREACH:
            return "no route";
        case ETIMEDOUT:
            return no_connection_in_time;
        case EMFILE:
        case ENFILE:
            return "no descriptors left";
        default:
            return "connection failed";
    }
}

int pending_error(int socket) {
    int error = 0;
    socklen_t size = sizeof error;
    return ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

Opened open_socket(const SocketAddress& address, Deadline deadline, const Signal& stop) {
    Descriptor socket(
        ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!socket.is_open()) return unsent(refusal(errno));
    const int on = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    const auto* const place = reinterpret_cast<const sockaddr*>(&address.storage);
    if (::connect(socket.get(), place, address.size) == 0) return socket;
    if (errno != EINPROGRESS && errno != EINTR) return unsent(refusal(errno));
    switch (stop.wait(socket.get(), POLLOUT, deadline)) {
        case Wait::timed_out:
            return unsent(no_connection_in_time);
        case Wait::signalled:
            return stopped();
        case Wait::ready:
            break;
    }
    if (const int error = pending_error(socket.get()); error != 0) return unsent(refusal(error));
    return socket;
}

Opened open_any(const std::vector<SocketAddress>& addresses, Deadline deadline,
                const Signal& stop) {
    Opened last = unsent("name not found");
    for (std::size_t next = 0; next < addresses.size(); ++next) {
        const Deadline now = std::chrono::steady_clock::now();
        const auto share = (deadline - now) / static_cast<int>(addresses.size() - next);
        last = open_socket(addresses[next], now + share, stop);
        const auto* const trouble = std::get_if<Trouble>(&last);
        if (trouble == nullptr || trouble->kind == Trouble::Kind::stopped) break;
    }
    return last;
}

Trouble unresolved(Unresolved why) {
    if (why == Unresolved::stopped) return stopped();
    return unsent(why == Unresolved::timed_out ? "no name look-up in time" : "name not found");
}

}  // namespace

std::variant<std::unique_ptr<Connection>, Trouble> connect(const Url& url, const TlsContext* tls,
                                                           Deadline deadline, const Signal& stop) {
    const auto resolved = resolve(url.host, url.port, deadline, stop);
    if (const auto* const why = std::get_if<Unresolved>(&resolved)) return unresolved(*why);
    Opened opened = open_any(std::get<std::vector<SocketAddress>>(resolved), deadline, stop);
    if (auto* const trouble = std::get_if<Trouble>(&opened)) return std::move(*trouble);
    auto& socket = std::get<Descriptor>(opened);
    if (!url.tls) return std::make_unique<Connection>(std::move(socket), nullptr);

    TlsSession session = tls == nullptr ? nullptr : tls->session(socket.get(), url.host);
    if (!session) return unsent("TLS failed");
    auto connection = std::make_unique<Connection>(std::move(socket), std::move(session));
    switch (connection->shake_hands(deadline, stop)) {
        case Connection::End::none:
            return connection;
        case Connection::End::stopped:
            return stopped();
        case Connection::End::timed_out:
            return unsent(no_connection_in_time);
        case Connection::End::closed:
        case Connection::End::broken:
            break;
    }
    return unsent(connection->distrusts_certificate() ? "certificate not trusted" : "TLS failed");
}

}  // namespace chains::jsonrpc
