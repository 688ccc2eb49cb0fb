#include "bench/recorder.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string_view>
#include <system_error>

#include "bench/http_load.hpp"

namespace bench {

namespace {

[[noreturn]] void fail(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

sockaddr_in loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    return address;
}

int listen_anywhere() {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = loopback(0);
    if (socket < 0 ||
        ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(socket, SOMAXCONN) != 0) {
        fail("the recorder can not listen");
    }
    return socket;
}

int port_of(int socket) {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) fail("no name");
    return ntohs(address.sin_port);
}

void send_at_once(int socket) {
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

// A request or an answer with a Content-Length; nothing when the connection ends before its end.
std::optional<std::string> read_message(int socket) {
    std::string message;
    std::array<char, 65536> chunk;
    for (;;) {
        const auto count = ::recv(socket, chunk.data(), chunk.size(), 0);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return std::nullopt;
        message.append(chunk.data(), static_cast<std::size_t>(count));
        const auto head = message.find("\r\n\r\n");
        if (head == std::string::npos) continue;
        const std::size_t size =
            head + 4 + content_length(std::string_view(message).substr(0, head));
        if (message.size() >= size) return message;
    }
}

bool write_message(int socket, std::string_view message) {
    while (!message.empty()) {
        const auto count = ::send(socket, message.data(), message.size(), MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        message.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

}  // namespace

Recorder::Recorder(int node_port)
    : node_port_(node_port),
      listener_(listen_anywhere()),
      port_(port_of(listener_)),
      accepting_([this] { accept_all(); }) {}

Recorder::~Recorder() {
    {
        const std::lock_guard lock{mutex_};
        ending_ = true;
        for (const int socket : sockets_) ::shutdown(socket, SHUT_RDWR);
    }
    ::shutdown(listener_, SHUT_RDWR);
    accepting_.join();
    relays_.clear();
    for (const int socket : sockets_) ::close(socket);
    ::close(listener_);
}

std::vector<Recorder::Sending> Recorder::sendings() const {
    const std::lock_guard lock{mutex_};
    return sendings_;
}

bool Recorder::keep(int socket) {
    const std::lock_guard lock{mutex_};
    sockets_.push_back(socket);
    return !ending_;
}

void Recorder::accept_all() {
    for (;;) {
        const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (client < 0 && (errno == EINTR || errno == ECONNABORTED)) continue;
        if (client < 0 || !keep(client)) return;
        relays_.emplace_back([this, client] { relay(client); });
    }
}

// Sockets stay open until the end: their numbers must not be given out again meanwhile.
void Recorder::relay(int client) {
    const int node = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (node < 0 || !keep(node)) return;
    const sockaddr_in address = loopback(node_port_);
    if (::connect(node, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
        send_at_once(client);
        send_at_once(node);
        while (const auto request = read_message(client)) {
            note(*request);
            if (!write_message(node, *request)) break;
            const auto answer = read_message(node);
            if (!answer || !write_message(client, *answer)) break;
        }
    }
    ::shutdown(client, SHUT_RDWR);
    ::shutdown(node, SHUT_RDWR);
}

void Recorder::note(const std::string& message) {
    const auto now = Stopwatch::now();
    if (message.find("eth_sendRawTransaction") == std::string::npos) return;
    const std::lock_guard lock{mutex_};
    sendings_.push_back({now, message.substr(message.find("\r\n\r\n") + 4)});
}

}  // namespace bench
