#include "net/tls_session.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <cerrno>
#include <new>

namespace net {

// What lies between OpenSSL and the socket.
struct TlsSession::Wire {
    int socket = -1;
    bool heard = false;
    bool ended = false;
    // Handshake records after the handshake: new keys, attempts to renegotiate. Each costs us more
    // than the peer, and a stream of them would never let a read return.
    unsigned late_handshakes = 0;

    static constexpr unsigned late_handshakes_max = 32;

    static Wire& of(BIO* bio) { return *static_cast<Wire*>(::BIO_get_data(bio)); }
    static int read(BIO* bio, char* data, std::size_t size, std::size_t* count);
    static int write(BIO* bio, const char* data, std::size_t size, std::size_t* count);
    static long control(BIO* bio, int command, long number, void* pointer);
    static void note_record(int written, int version, int type, const void* bytes, std::size_t size,
                            SSL* ssl, void* wire);
    static const BIO_METHOD* method();
};

namespace {

bool would_block(int error) {
    return error == EAGAIN || error == EWOULDBLOCK;
}

}  // namespace

int TlsSession::Wire::read(BIO* bio, char* data, std::size_t size, std::size_t* count) {
    ::BIO_clear_retry_flags(bio);
    Wire& wire = of(bio);
    if (wire.late_handshakes > late_handshakes_max) return 0;
    ssize_t received = 0;
    do {
        received = ::recv(wire.socket, data, size, 0);
    } while (received < 0 && errno == EINTR);
    if (received > 0) {
        wire.heard = true;
        *count = static_cast<std::size_t>(received);
        return 1;
    }
    if (received == 0) {
        wire.ended = true;
    } else if (would_block(errno)) {
        ::BIO_set_retry_read(bio);
    }
    return 0;
}

// OpenSSL's own would raise SIGPIPE.
int TlsSession::Wire::write(BIO* bio, const char* data, std::size_t size, std::size_t* count) {
    ::BIO_clear_retry_flags(bio);
    ssize_t sent = 0;
    do {
        sent = ::send(of(bio).socket, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (sent < 0 && errno == EINTR);
    if (sent >= 0) {
        *count = static_cast<std::size_t>(sent);
        return 1;
    }
    if (would_block(errno)) ::BIO_set_retry_write(bio);
    return 0;
}

long TlsSession::Wire::control(BIO* bio, int command, long, void*) {
    if (command == BIO_CTRL_FLUSH) return 1;
    if (command == BIO_CTRL_EOF) return of(bio).ended ? 1 : 0;
    return 0;
}

void TlsSession::Wire::note_record(int written, int, int type, const void* bytes, std::size_t size,
                                   SSL* ssl, void* wire) {
    const bool says_type = type == SSL3_RT_HEADER || type == SSL3_RT_INNER_CONTENT_TYPE;
    if (written != 0 || !says_type || size == 0 || ::SSL_is_init_finished(ssl) == 0) return;
    if (*static_cast<const unsigned char*>(bytes) == SSL3_RT_HANDSHAKE) {
        ++static_cast<Wire*>(wire)->late_handshakes;
    }
}

const BIO_METHOD* TlsSession::Wire::method() {
    static const BIO_METHOD* const only = [] {
        BIO_METHOD* made = ::BIO_meth_new(::BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "wire");
        if (made == nullptr) throw std::bad_alloc();
        ::BIO_meth_set_read_ex(made, read);
        ::BIO_meth_set_write_ex(made, write);
        ::BIO_meth_set_ctrl(made, control);
        return made;
    }();
    return only;
}

TlsSession::TlsSession(ssl_ctx_st& context, int socket)
    : wire_(std::make_unique<Wire>()), ssl_(::SSL_new(&context)) {
    wire_->socket = socket;
    BIO* bio = ssl_ == nullptr ? nullptr : ::BIO_new(Wire::method());
    if (bio == nullptr) {
        ::SSL_free(ssl_);
        throw std::bad_alloc();
    }
    ::BIO_set_data(bio, wire_.get());
    ::BIO_set_init(bio, 1);
    ::SSL_set_bio(ssl_, bio, bio);
    ::SSL_set_msg_callback(ssl_, Wire::note_record);
    ::SSL_set_msg_callback_arg(ssl_, wire_.get());
    ::SSL_set_accept_state(ssl_);
}

TlsSession::~TlsSession() {
    ::SSL_free(ssl_);
}

bool TlsSession::has_heard() const {
    return wire_->heard;
}

bool TlsSession::waits_for_output() const {
    return SSL_want_write(ssl_);
}

TlsSession::Handshake TlsSession::shake_hands() {
    ::ERR_clear_error();
    const int result = ::SSL_accept(ssl_);
    if (result == 1) return Handshake::done;
    const int error = ::SSL_get_error(ssl_, result);
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return Handshake::waiting;
    failed_ = true;
    const auto reason = ::ERR_peek_error();
    ::ERR_clear_error();
    const bool is_http =
        ERR_GET_LIB(reason) == ERR_LIB_SSL && ERR_GET_REASON(reason) == SSL_R_HTTP_REQUEST;
    return is_http ? Handshake::plain_http : Handshake::failed;
}

Transfer::Stop TlsSession::stop_after(int result, bool reading) {
    switch (::SSL_get_error(ssl_, result)) {
        case SSL_ERROR_WANT_READ:
            return Transfer::Stop::blocked;
        case SSL_ERROR_WANT_WRITE:
            return reading ? Transfer::Stop::blocked_by_output : Transfer::Stop::blocked;
        case SSL_ERROR_ZERO_RETURN:
            return Transfer::Stop::ended;
        default:
            failed_ = true;
            ::ERR_clear_error();
            return Transfer::Stop::broken;
    }
}

Transfer TlsSession::read(std::span<char> space) {
    if (failed_) return {0, Transfer::Stop::broken};
    ::ERR_clear_error();
    std::size_t total = 0;
    // One call delivers one record at most.
    while (total < space.size()) {
        std::size_t count = 0;
        const int result = ::SSL_read_ex(ssl_, space.data() + total, space.size() - total, &count);
        total += count;
        if (result == 1) continue;
        const auto stop = stop_after(result, true);
        const bool can_wait = stop == Transfer::Stop::ended || stop == Transfer::Stop::broken;
        return {total, total > 0 && can_wait ? Transfer::Stop::full : stop};
    }
    return {total, Transfer::Stop::full};
}

Transfer TlsSession::write(std::string_view bytes) {
    if (failed_) return {0, Transfer::Stop::broken};
    ::ERR_clear_error();
    std::size_t total = 0;
    while (total < bytes.size()) {
        std::size_t count = 0;
        const int result = ::SSL_write_ex(ssl_, bytes.data() + total, bytes.size() - total, &count);
        total += count;
        if (result != 1) return {total, stop_after(result, false)};
    }
    return {total, Transfer::Stop::full};
}

void TlsSession::close_notify() {
    if (failed_ || closed_ || ::SSL_is_init_finished(ssl_) == 0) return;
    closed_ = true;
    ::ERR_clear_error();
    ::SSL_shutdown(ssl_);
    ::ERR_clear_error();
}

}  // namespace net
