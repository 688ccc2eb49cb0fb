#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "net/file_descriptor.hpp"
#include "net/tls_session.hpp"
#include "net/transfer.hpp"

namespace net {

// The way to one peer: a non-blocking socket, bare or with TLS on it. Whoever owns the connection
// uses it. No call blocks.
class Transport {
public:
    // `tls` belongs to `socket`; none: the bytes travel as they are.
    Transport(FileDescriptor socket, std::unique_ptr<TlsSession> tls)
        : socket_(std::move(socket)), tls_(std::move(tls)) {}
    Transport(const Transport&) = delete;
    Transport& operator=(const Transport&) = delete;
    ~Transport() { close(); }

    [[nodiscard]] bool is_secured() const { return tls_ != nullptr; }
    // For a secured one, until it is done. After `plain_http` the transport is bare.
    [[nodiscard]] TlsSession::Handshake shake_hands();
    [[nodiscard]] bool handshake_waits_for_output() const {
        return tls_ && tls_->waits_for_output();
    }
    [[nodiscard]] bool has_heard() const { return tls_ && tls_->has_heard(); }

    [[nodiscard]] Transfer read(std::span<char> space);
    // After `blocked` the next call begins with the same bytes.
    [[nodiscard]] Transfer write(std::string_view bytes);
    // Takes bytes off the socket that nobody is going to look at.
    [[nodiscard]] Transfer discard(std::span<char> space) { return receive(space); }

    // The peer learns that nothing more comes.
    void stop_sending();
    void close();
    [[nodiscard]] int descriptor() const { return socket_.get(); }

private:
    [[nodiscard]] Transfer receive(std::span<char> space);

    FileDescriptor socket_;
    std::unique_ptr<TlsSession> tls_;
};

}  // namespace net
