#pragma once

#include <netinet/in.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace support {

// The server's end of one connection, on a thread of its own.
class StubPeer {
public:
    StubPeer(int socket, SSL* session) : socket_(socket), session_(session) {}

    // Whatever comes next; empty at the end.
    [[nodiscard]] std::string read_some() {
        std::array<char, 16'384> space;
        const auto size = static_cast<int>(space.size());
        const ssize_t count = session_ != nullptr ? ::SSL_read(session_, space.data(), size)
                                                  : ::recv(socket_, space.data(), space.size(), 0);
        return count > 0 ? std::string(space.data(), static_cast<std::size_t>(count))
                         : std::string();
    }

    // False once the client is gone.
    bool send(std::string_view bytes) {
        while (!bytes.empty()) {
            const ssize_t count =
                session_ != nullptr
                    ? ::SSL_write(session_, bytes.data(), static_cast<int>(bytes.size()))
                    : ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (count <= 0) return false;
            bytes.remove_prefix(static_cast<std::size_t>(count));
        }
        return true;
    }

    // One byte at a time.
    void drip(std::string_view bytes, int pause_ms = 5) {
        for (const char byte : bytes) {
            if (!send({&byte, 1}) || gone_within(pause_ms)) return;
        }
    }

    // Waits for the client, or the end of the test, to end the connection.
    bool gone_within(int ms) {
        pollfd polled{.fd = socket_, .events = POLLRDHUP, .revents = 0};
        return ::poll(&polled, 1, ms) > 0;
    }
    void hang() { gone_within(60'000); }

    // The connection ends with a reset when the script returns.
    void reset() {
        const linger at_once{.l_onoff = 1, .l_linger = 0};
        ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    }

private:
    const int socket_;
    SSL* const session_;
};

// A TCP or TLS server on a loopback port of its own; every connection runs the script until that
// returns.
class StubServer {
public:
    using Script = std::function<void(StubPeer& peer)>;

    struct Certificate {
        std::string file;
        std::string key_file;
    };

    explicit StubServer(Script script, const Certificate& certificate = {})
        : script_(std::move(script)), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address = loopback(0);
        socklen_t size = sizeof address;
        const bool listens =
            ::bind(listener_, reinterpret_cast<const sockaddr*>(&address), size) == 0 &&
            ::listen(listener_, 64) == 0 &&
            ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0;
        if (!listens) throw std::runtime_error("no loopback port");
        port_ = ntohs(address.sin_port);
        if (!certificate.file.empty()) use(certificate);
        acceptor_ = std::thread([this] { accept(); });
    }
    StubServer(const StubServer&) = delete;
    StubServer& operator=(const StubServer&) = delete;
    ~StubServer() {
        {
            const std::lock_guard lock(mutex_);
            ended_ = true;
            ::shutdown(listener_, SHUT_RDWR);
            for (const int socket : sockets_) ::shutdown(socket, SHUT_RDWR);
        }
        acceptor_.join();
        for (std::thread& thread : threads_) thread.join();
        ::close(listener_);
    }

    // Connections to a TLS server end before the handshake.
    void break_tls(bool broken) { tls_broken_ = broken; }

    // Not newer than this; older ones are allowed too.
    void limit_tls(int version) {
        ::SSL_CTX_set_security_level(tls_.get(), 0);
        ::SSL_CTX_set_min_proto_version(tls_.get(), TLS1_VERSION);
        ::SSL_CTX_set_max_proto_version(tls_.get(), version);
    }

    [[nodiscard]] std::uint16_t port() const { return port_; }
    [[nodiscard]] std::size_t connections() const {
        const std::lock_guard lock(mutex_);
        return connections_;
    }

    static sockaddr_in loopback(std::uint16_t port) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        return address;
    }

private:
    void use(const Certificate& certificate) {
        tls_.reset(::SSL_CTX_new(::TLS_server_method()), &::SSL_CTX_free);
        if (::SSL_CTX_use_certificate_file(tls_.get(), certificate.file.c_str(),
                                           SSL_FILETYPE_PEM) != 1 ||
            ::SSL_CTX_use_PrivateKey_file(tls_.get(), certificate.key_file.c_str(),
                                          SSL_FILETYPE_PEM) != 1) {
            throw std::runtime_error("no certificate");
        }
    }

    void accept() {
        for (;;) {
            const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
            if (socket < 0) return;
            const std::lock_guard lock(mutex_);
            if (ended_) {
                ::close(socket);
                return;
            }
            ++connections_;
            sockets_.insert(socket);
            threads_.emplace_back([this, socket] { serve(socket); });
        }
    }

    // OpenSSL writes with SIGPIPE.
    static void block_sigpipe() {
        sigset_t signals;
        ::sigemptyset(&signals);
        ::sigaddset(&signals, SIGPIPE);
        ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    }

    void serve(int socket) {
        block_sigpipe();
        if (tls_) {
            const std::unique_ptr<SSL, decltype(&::SSL_free)> session(::SSL_new(tls_.get()),
                                                                      &::SSL_free);
            ::SSL_set_fd(session.get(), socket);
            StubPeer peer(socket, session.get());
            if (!tls_broken_ && ::SSL_accept(session.get()) == 1) script_(peer);
        } else {
            StubPeer peer(socket, nullptr);
            script_(peer);
        }
        const std::lock_guard lock(mutex_);
        sockets_.erase(socket);
        ::close(socket);
    }

    const Script script_;
    const int listener_;
    std::uint16_t port_ = 0;
    std::shared_ptr<SSL_CTX> tls_;
    std::atomic<bool> tls_broken_{false};

    mutable std::mutex mutex_;
    bool ended_ = false;
    std::size_t connections_ = 0;
    std::set<int> sockets_;
    std::vector<std::thread> threads_;
    std::thread acceptor_;
};

// A port where nobody listens.
inline std::uint16_t deserted_port() {
    return StubServer([](StubPeer&) {}).port();
}

}  // namespace support
