#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

struct ssl_st;
struct ssl_ctx_st;

namespace net {

// Bytes that went through a socket in one go, and why no more did.
struct Transfer {
    enum class Stop {
        full,               // all there was room for; there may be more
        blocked,            // the socket has to become ready in this direction first
        blocked_by_output,  // a read that has to send something before it can go on (TLS)
        ended,              // the peer sends nothing more
        broken,             // nothing goes through any more
    };

    std::size_t bytes = 0;
    Stop stop = Stop::full;
};

// The server's side of TLS on one non-blocking socket, which it does not own. One thread at a time,
// not always the same. No call blocks or throws; what went wrong is told to nobody but by the
// alerts of the protocol (RFC 8446, 6).
class TlsSession {
public:
    enum class Handshake {
        waiting,     // for the socket to become ready
        done,        // bytes may already have arrived behind it
        plain_http,  // the peer speaks HTTP without TLS
        failed,
    };

    // Throws std::bad_alloc.
    TlsSession(ssl_ctx_st& context, int socket);
    TlsSession(const TlsSession&) = delete;
    TlsSession& operator=(const TlsSession&) = delete;
    ~TlsSession();

    [[nodiscard]] Handshake shake_hands();
    // Any byte at all has arrived.
    [[nodiscard]] bool has_heard() const;
    // The handshake goes on when the socket is writable.
    [[nodiscard]] bool waits_for_output() const;

    // After the handshake. Stops at `blocked` only once the socket and this session are empty.
    [[nodiscard]] Transfer read(std::span<char> space);
    // After `blocked` the next call begins with the same bytes.
    [[nodiscard]] Transfer write(std::string_view bytes);
    // Tells the peer that nothing more comes, as far as the socket takes it.
    void close_notify();

private:
    struct Wire;

    [[nodiscard]] Transfer::Stop stop_after(int result, bool reading);

    const std::unique_ptr<Wire> wire_;
    ssl_st* const ssl_;
    bool failed_ = false;
    bool closed_ = false;
};

}  // namespace net
