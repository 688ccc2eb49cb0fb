#include "net/listener.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>
#include <stdexcept>
#include <system_error>

namespace net {

namespace {

constexpr int backlog = 1024;

struct AddressList {
    addrinfo* first = nullptr;

    AddressList() = default;
    AddressList(const AddressList&) = delete;
    AddressList& operator=(const AddressList&) = delete;
    ~AddressList() {
        if (first != nullptr) ::freeaddrinfo(first);
    }
};

// What stands in brackets or alone.
std::string without_brackets(const std::string& host) {
    const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
    return bracketed ? host.substr(1, host.size() - 2) : host;
}

bool set_option(int socket, int level, int name) {
    const int on = 1;
    return ::setsockopt(socket, level, name, &on, sizeof on) == 0;
}

FileDescriptor listen_on(const addrinfo& address) {
    FileDescriptor socket(::socket(address.ai_family,
                                   address.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC,
                                   address.ai_protocol));
    // Accepted sockets inherit TCP_NODELAY.
    if (!socket.is_open() || !set_option(socket.get(), SOL_SOCKET, SO_REUSEADDR) ||
        !set_option(socket.get(), IPPROTO_TCP, TCP_NODELAY) ||
        ::bind(socket.get(), address.ai_addr, address.ai_addrlen) != 0 ||
        ::listen(socket.get(), backlog) != 0) {
        return {};
    }
    return socket;
}

int port_of(int socket) {
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length) != 0) return 0;
    if (address.ss_family == AF_INET6) {
        return ntohs(reinterpret_cast<const sockaddr_in6*>(&address)->sin6_port);
    }
    return ntohs(reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
}

}  // namespace

Listener::Listener(const std::string& host, int port, const std::string& setting) {
    const std::string place = host + ":" + std::to_string(port);
    if (port < 0 || port > 65535) {
        throw std::runtime_error("cannot listen on " + place + ": a port is 0 to 65535");
    }
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
    AddressList addresses;
    const int failure = ::getaddrinfo(without_brackets(host).c_str(), std::to_string(port).c_str(),
                                      &hints, &addresses.first);
    if (failure != 0) {
        throw std::runtime_error("cannot listen on " + place + ": " + ::gai_strerror(failure));
    }
    int reason = 0;
    for (const auto* address = addresses.first; address != nullptr; address = address->ai_next) {
        socket_ = listen_on(*address);
        if (socket_.is_open()) {
            port_ = port_of(socket_.get());
            return;
        }
        reason = errno;
    }
    throw std::runtime_error("cannot listen on " + place + ": " +
                             std::system_category().message(reason) +
                             "; stop what listens there or choose another address with " + setting);
}

}  // namespace net
