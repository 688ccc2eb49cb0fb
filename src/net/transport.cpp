#include "net/transport.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace net {

namespace {

Transfer::Stop stop_after(int error) {
    return error == EAGAIN || error == EWOULDBLOCK ? Transfer::Stop::blocked
                                                   : Transfer::Stop::broken;
}

}  // namespace

TlsSession::Handshake Transport::shake_hands() {
    const auto handshake = tls_->shake_hands();
    if (handshake == TlsSession::Handshake::plain_http) tls_.reset();
    return handshake;
}

Transfer Transport::read(std::span<char> space) {
    return tls_ ? tls_->read(space) : receive(space);
}

Transfer Transport::receive(std::span<char> space) {
    ssize_t count = 0;
    do {
        count = ::recv(socket_, space.data(), space.size(), 0);
    } while (count < 0 && errno == EINTR);
    if (count < 0) return {0, stop_after(errno)};
    if (count == 0) return {0, Transfer::Stop::ended};
    const auto bytes = static_cast<std::size_t>(count);
    // Whatever follows a short read is announced by an event of its own.
    return {bytes, bytes == space.size() ? Transfer::Stop::full : Transfer::Stop::blocked};
}

Transfer Transport::write(std::string_view bytes) {
    if (tls_) return tls_->write(bytes);
    std::size_t total = 0;
    while (total < bytes.size()) {
        const auto count = ::send(socket_, bytes.data() + total, bytes.size() - total,
                                  MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count >= 0) {
            total += static_cast<std::size_t>(count);
        } else if (errno != EINTR) {
            return {total, stop_after(errno)};
        }
    }
    return {total, Transfer::Stop::full};
}

Transfer Transport::discard(std::size_t most) {
    std::array<char, 16'384> waste;
    std::size_t total = 0;
    while (total < most) {
        const auto [bytes, stop] = receive({waste.data(), std::min(waste.size(), most - total)});
        total += bytes;
        if (bytes == 0) return {total, stop};
    }
    return {total, Transfer::Stop::full};
}

void Transport::stop_sending() {
    if (tls_) tls_->close_notify();
    ::shutdown(socket_, SHUT_WR);
}

void Transport::end() {
    if (tls_) tls_->close_notify();
    tls_.reset();
}

}  // namespace net
