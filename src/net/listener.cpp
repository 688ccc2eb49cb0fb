#include "net/listener.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
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

}  // namespace

Listeners listen_on(const std::string& host, int port, const std::string& setting) {
    const std::string place = host + ":" + std::to_string(port);
    if (port < 0 || port > 65535) {
        throw std::runtime_error("cannot listen on " + place + ": a port is 0 to 65535");
    }
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
    addrinfo* first = nullptr;
    const int failure =
        ::getaddrinfo(without_brackets(host).c_str(), std::to_string(port).c_str(), &hints, &first);
    if (failure != 0) {
        throw std::runtime_error("cannot listen on " + place + ": " + ::gai_strerror(failure));
    }
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> list(first, &::freeaddrinfo);
    const auto addresses = addresses_in(list.get());
    int reason = 0;
    // The port that was free on the first address may be taken on the second.
    for (int tries = port == 0 ? any_port_tries : 1; tries > 0; --tries) {
        auto all = listen_on_all(addresses, reason);
        if (!all.sockets.empty()) return all;
        if (reason != EADDRINUSE) break;
    }
    throw std::runtime_error("cannot listen on " + place + ": " +
                             std::system_category().message(reason) +
                             "; stop what listens there or choose another address with " + setting);
}

}  // namespace net
