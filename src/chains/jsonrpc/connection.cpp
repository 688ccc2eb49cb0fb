#include "chains/jsonrpc/connection.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace chains::jsonrpc {

Connection::Connection(Descriptor socket, TlsSession session)
    : socket_(std::move(socket)), session_(std::move(session)) {}

Connection::Step Connection::step_after(int result) {
    switch (::SSL_get_error(session_.get(), result)) {
        case SSL_ERROR_NONE:
            return Step::moved;
        case SSL_ERROR_WANT_READ:
            return Step::wants_input;
        case SSL_ERROR_WANT_WRITE:
            return Step::wants_output;
        case SSL_ERROR_ZERO_RETURN:
            return Step::closed;
        default:
            return Step::broken;
    }
}

Connection::Step Connection::read_step(std::span<char> space, std::size_t& count) {
    if (session_) {
        ::ERR_clear_error();
        return step_after(::SSL_read_ex(session_.get(), space.data(), space.size(), &count));
    }
    const ssize_t received = ::recv(socket_.get(), space.data(), space.size(), MSG_DONTWAIT);
    if (received < 0) {
        return errno == EAGAIN || errno == EINTR ? Step::wants_input : Step::broken;
    }
    count = static_cast<std::size_t>(received);
    return count == 0 ? Step::closed : Step::moved;
}

Connection::Step Connection::write_step(std::string_view bytes, std::size_t& count) {
    if (session_) {
        ::ERR_clear_error();
        return step_after(::SSL_write_ex(session_.get(), bytes.data(), bytes.size(), &count));
    }
    const ssize_t sent =
        ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) return errno == EAGAIN || errno == EINTR ? Step::wants_output : Step::broken;
    count = static_cast<std::size_t>(sent);
    return Step::moved;
}

template <typename Try>
Connection::End Connection::finish(Try attempt, Deadline deadline, const Signal& stop) {
    for (;;) {
        // A peer that never lets us wait must not outlast the deadline either.
        if (stop.is_set()) return End::stopped;
        if (std::chrono::steady_clock::now() >= deadline) return End::timed_out;
        const Step step = attempt();
        if (step == Step::moved) return End::none;
        if (step == Step::closed) return End::closed;
        if (step == Step::broken) return End::broken;
        const short events = step == Step::wants_input ? POLLIN : POLLOUT;
        switch (stop.wait(socket_.get(), events, deadline)) {
            case Wait::ready:
                break;
            case Wait::timed_out:
                return End::timed_out;
            case Wait::signalled:
                return End::stopped;
        }
    }
}

Connection::End Connection::shake_hands(Deadline deadline, const Signal& stop) {
    const auto attempt = [&] {
        ::ERR_clear_error();
        return step_after(::SSL_do_handshake(session_.get()));
    };
    return finish(attempt, deadline, stop);
}

bool Connection::distrusts_certificate() const {
    return session_ && ::SSL_get_verify_result(session_.get()) != X509_V_OK;
}

Connection::Received Connection::read(std::span<char> space, Deadline deadline,
                                      const Signal& stop) {
    Received received;
    received.end = finish([&] { return read_step(space, received.bytes); }, deadline, stop);
    return received;
}

Connection::End Connection::write(std::string_view bytes, Deadline deadline, const Signal& stop) {
    while (!bytes.empty()) {
        std::size_t count = 0;
        const End end = finish([&] { return write_step(bytes, count); }, deadline, stop);
        if (end != End::none) return end;
        bytes.remove_prefix(count);
    }
    return End::none;
}

bool Connection::is_quiet() {
    char unasked = 0;
    std::size_t count = 0;
    return read_step({&unasked, 1}, count) == Step::wants_input;
}

}  // namespace chains::jsonrpc
