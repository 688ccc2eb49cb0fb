#include "net/listener.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace net {

namespace {

constexpr int backlog = 1024;
constexpr int any_port_tries = 16;

// What stands in brackets or alone.
std::string without_brackets(const std::string& host) {
    const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
    return bracketed ? host.substr(1, host.size() - 2) : host;
}

bool set_option(int socket, int level, int name) {
    const int on = 1;
    return ::setsockopt(socket, level, name, &on, sizeof on) == 0;
}

// With `one_family` an IPv6 socket leaves IPv4 to another one. Closed: errno says why.
base::Descriptor listen_on(const sockaddr_storage& address, socklen_t length, bool one_family) {
    base::Descriptor socket(
        ::socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
    const bool is_v6 = address.ss_family == AF_INET6;
    // Accepted sockets inherit TCP_NODELAY.
    if (!socket.is_open() || !set_option(socket.get(), SOL_SOCKET, SO_REUSEADDR) ||
        !set_option(socket.get(), IPPROTO_TCP, TCP_NODELAY) ||
        (one_family && is_v6 && !set_option(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY)) ||
        ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0 ||
        ::listen(socket.get(), backlog) != 0) {
        const int reason = errno;
        socket.reset();
        errno = reason;
    }
    return socket;
}

in_port_t& port_of(sockaddr_storage& address) {
    return address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(address).sin6_port
                                         : reinterpret_cast<sockaddr_in&>(address).sin_port;
}

int port_of(int socket) {
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length) != 0) return 0;
    return ntohs(port_of(address));
}

struct Address {
    sockaddr_storage address{};
    socklen_t length = 0;
};

// Every one once: /etc/hosts may say a name twice.
std::vector<Address> addresses_in(const addrinfo* list) {
    std::vector<Address> addresses;
    for (const auto* entry = list; entry != nullptr; entry = entry->ai_next) {
        Address one{.length = entry->ai_addrlen};
        std::memcpy(&one.address, entry->ai_addr, entry->ai_addrlen);
        const bool known = std::ranges::any_of(addresses, [&](const Address& other) {
            return std::memcmp(&other.address, &one.address, sizeof one.address) == 0;
        });
        if (!known) addresses.push_back(one);
    }
    return addresses;
}

bool is_no_address_of_ours(int reason) {
    return reason == EADDRNOTAVAIL || reason == EAFNOSUPPORT;
}

// `reason`: why not all of them, if no socket is there.
Listeners listen_on_all(std::vector<Address> addresses, int& reason) {
    Listeners all;
    for (Address& one : addresses) {
        if (all.port != 0) port_of(one.address) = htons(static_cast<in_port_t>(all.port));
        auto socket = listen_on(one.address, one.length, addresses.size() > 1);
        if (socket.is_open()) {
            all.port = port_of(socket.get());
            all.sockets.push_back(std::move(socket));
            continue;
        }
        reason = errno;
        if (!is_no_address_of_ours(reason)) return {};
    }
    return all;
}

using AddressList = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

std::string place_of(const std::string& host, int port) {
    return host + ":" + std::to_string(port);
}

std::vector<Address> addresses_of(const std::string& host, int port) {
    if (port < 0 || port > 65535) {
        throw std::runtime_error("cannot listen on " + place_of(host, port) +
                                 ": a port is 0 to 65535");
    }
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
    addrinfo* first = nullptr;
    const int failure =
        ::getaddrinfo(without_brackets(host).c_str(), std::to_string(port).c_str(), &hints, &first);
    if (failure != 0) {
        throw std::runtime_error("cannot listen on " + place_of(host, port) + ": " +
                                 ::gai_strerror(failure));
    }
    const AddressList list(first, &::freeaddrinfo);
    return addresses_in(list.get());
}

bool listens(int socket) {
    int answer = 0;
    socklen_t length = sizeof answer;
    return ::getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &answer, &length) == 0 && answer != 0;
}

// Where it is bound, as "[::]:3000"; nothing when that is no address of TCP.
std::optional<std::string> bound_place(const sockaddr_storage& address, socklen_t length) {
    std::array<char, NI_MAXHOST> host{};
    if ((address.ss_family != AF_INET && address.ss_family != AF_INET6) ||
        ::getnameinfo(reinterpret_cast<const sockaddr*>(&address), length, host.data(), host.size(),
                      nullptr, 0, NI_NUMERICHOST) != 0) {
        return std::nullopt;
    }
    const std::string name = host.data();
    return place_of(address.ss_family == AF_INET6 ? "[" + name + "]" : name,
                    ntohs(port_of(const_cast<sockaddr_storage&>(address))));
}

// Scope and flow of IPv6 are no part of what is configured.
bool is_same_host(const sockaddr_storage& one, const sockaddr_storage& other) {
    if (one.ss_family != other.ss_family) return false;
    if (one.ss_family == AF_INET) {
        return reinterpret_cast<const sockaddr_in&>(one).sin_addr.s_addr ==
               reinterpret_cast<const sockaddr_in&>(other).sin_addr.s_addr;
    }
    return std::memcmp(&reinterpret_cast<const sockaddr_in6&>(one).sin6_addr,
                       &reinterpret_cast<const sockaddr_in6&>(other).sin6_addr,
                       sizeof(in6_addr)) == 0;
}

void prepare_taken(int socket) {
    if (!set_option(socket, IPPROTO_TCP, TCP_NODELAY) ||
        ::fcntl(socket, F_SETFL, ::fcntl(socket, F_GETFL) | O_NONBLOCK) != 0) {
        throw std::runtime_error("cannot use the socket that was handed over: " +
                                 std::system_category().message(errno));
    }
}

}  // namespace

Listeners listen_on(const std::string& host, int port, const std::string& setting) {
    const auto addresses = addresses_of(host, port);
    int reason = 0;
    // The port that was free on the first address may be taken on the second.
    for (int tries = port == 0 ? any_port_tries : 1; tries > 0; --tries) {
        auto all = listen_on_all(addresses, reason);
        if (!all.sockets.empty()) return all;
        if (reason != EADDRINUSE) break;
    }
    throw std::runtime_error("cannot listen on " + place_of(host, port) + ": " +
                             std::system_category().message(reason) +
                             "; stop what listens there or choose another address with " + setting);
}

Listeners take_over(std::vector<base::Descriptor> sockets, const std::string& host, int port,
                    const std::string& setting) {
    const auto addresses = addresses_of(host, port);
    Listeners all{std::move(sockets), 0};
    for (const base::Descriptor& socket : all.sockets) {
        sockaddr_storage bound{};
        socklen_t length = sizeof bound;
        const bool known =
            ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&bound), &length) == 0;
        const auto place = known ? bound_place(bound, length) : std::nullopt;
        if (!place || !listens(socket.get())) {
            throw ForeignSocket("what was handed over is no listening TCP socket; name " +
                                place_of(host, port) + " in ListenStream= of the socket unit");
        }
        const bool named = std::ranges::any_of(addresses, [&](const Address& address) {
            return is_same_host(address.address, bound);
        });
        all.port = ntohs(port_of(bound));
        if (!named || (port != 0 && all.port != port)) {
            throw ForeignSocket("the socket that was handed over listens on " + *place +
                                ", and not on " + place_of(host, port) +
                                "; write the same address in ListenStream= of the socket "
                                "unit and in " +
                                setting);
        }
        prepare_taken(socket.get());
    }
    return all;
}

}  // namespace net
