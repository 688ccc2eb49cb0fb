#include "chains/jsonrpc/tls_context.hpp"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <stdexcept>

namespace chains::jsonrpc {
namespace {

int socket_of(BIO* bio) {
    return static_cast<int>(reinterpret_cast<std::intptr_t>(::BIO_get_data(bio)));
}

int read_socket(BIO* bio, char* data, std::size_t size, std::size_t* count) {
    ::BIO_clear_retry_flags(bio);
    const ssize_t received = ::recv(socket_of(bio), data, size, MSG_DONTWAIT);
    if (received > 0) {
        *count = static_cast<std::size_t>(received);
        return 1;
    }
    if (received < 0 && (errno == EAGAIN || errno == EINTR)) ::BIO_set_retry_read(bio);
    if (received == 0) ::BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
    return 0;
}

// OpenSSL's own would raise SIGPIPE.
int write_socket(BIO* bio, const char* data, std::size_t size, std::size_t* count) {
    ::BIO_clear_retry_flags(bio);
    const ssize_t sent = ::send(socket_of(bio), data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
        *count = static_cast<std::size_t>(sent);
        return 1;
    }
    if (errno == EAGAIN || errno == EINTR) ::BIO_set_retry_write(bio);
    return 0;
}

long control_socket(BIO* bio, int command, long, void*) {
    if (command == BIO_CTRL_FLUSH) return 1;
    if (command == BIO_CTRL_EOF) return ::BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
    return 0;
}

const BIO_METHOD* socket_method() {
    static const BIO_METHOD* const shared = [] {
        BIO_METHOD* const made =
            ::BIO_meth_new(::BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "node");
        if (made == nullptr) return made;
        ::BIO_meth_set_read_ex(made, read_socket);
        ::BIO_meth_set_write_ex(made, write_socket);
        ::BIO_meth_set_ctrl(made, control_socket);
        return made;
    }();
    return shared;
}

bool is_address(const std::string& host) {
    std::array<unsigned char, sizeof(in6_addr)> bytes{};
    return ::inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 ||
           ::inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

bool expect_host(SSL* session, const std::string& host) {
    if (is_address(host)) {
        return ::X509_VERIFY_PARAM_set1_ip_asc(::SSL_get0_param(session), host.c_str()) == 1;
    }
    ::SSL_set_hostflags(session, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return ::SSL_set1_host(session, host.c_str()) == 1 &&
           ::SSL_set_tlsext_host_name(session, host.c_str()) == 1;
}

}  // namespace

void TlsSessionDeleter::operator()(ssl_st* session) const {
    ::SSL_free(session);
    ::ERR_clear_error();
}

TlsContext::TlsContext() : context_(::SSL_CTX_new(::TLS_client_method()), &::SSL_CTX_free) {
    if (!context_ || ::SSL_CTX_set_min_proto_version(context_.get(), TLS1_2_VERSION) != 1 ||
        ::SSL_CTX_set_default_verify_paths(context_.get()) != 1) {
        ::ERR_clear_error();
        throw std::runtime_error("TLS towards nodes can not be set up");
    }
    ::SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
    ::SSL_CTX_set_mode(context_.get(), SSL_MODE_AUTO_RETRY | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                           SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                           SSL_MODE_RELEASE_BUFFERS);
    // Whether a message is whole, HTTP knows.
    ::SSL_CTX_set_options(context_.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
}

TlsSession TlsContext::session(int socket, const std::string& host) const {
    TlsSession session(::SSL_new(context_.get()));
    const BIO_METHOD* const method = socket_method();
    if (!session || method == nullptr || !expect_host(session.get(), host)) return nullptr;
    BIO* const bio = ::BIO_new(method);
    if (bio == nullptr) return nullptr;
    ::BIO_set_data(bio, reinterpret_cast<void*>(static_cast<std::intptr_t>(socket)));
    ::BIO_set_init(bio, 1);
    ::SSL_set_bio(session.get(), bio, bio);
    ::SSL_set_connect_state(session.get());
    return session;
}

}  // namespace chains::jsonrpc
