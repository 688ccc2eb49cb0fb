#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "net/tls_session.hpp"

namespace net {

// The way to one peer: a non-blocking socket, which it does not own, bare or with TLS on it. One
// thread at a time. No call blocks.
class Transport {
public:
    explicit Transport(int socket) : socket_(socket) {}

    // `tls` belongs to the same socket.
    void secure(std::unique_ptr<TlsSession> tls) { tls_ = std::move(tls); }
    // For a secured one, until it is done. After `plain_http` the transport is bare.
    [[nodiscard]] TlsSession::Handshake shake_hands();
    [[nodiscard]] bool handshake_waits_for_output() const {
        return tls_ && tls_->waits_for_output();
    }
    // Any byte at all has arrived. For a secured one.
    [[nodiscard]] bool has_heard() const { return tls_ && tls_->has_heard(); }

    [[nodiscard]] Transfer read(std::span<char> space);
    // After `blocked` the next call begins with the same bytes.
    [[nodiscard]] Transfer write(std::string_view bytes);
    // Takes bytes off the socket that nobody is going to look at: at most `most`. `blocked`: there
    // are no more of them now.
    [[nodiscard]] Transfer discard(std::size_t most);

    // The peer learns that nothing more comes.
    void stop_sending();
    // Before the socket is closed.
    void end();

private:
    [[nodiscard]] Transfer receive(std::span<char> space);

    const int socket_;
    std::unique_ptr<TlsSession> tls_;
};

}  // namespace net
