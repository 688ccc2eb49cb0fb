#include "net/tls.hpp"

#include <openssl/ssl.h>

#include <array>
#include <stdexcept>
#include <utility>

namespace net {

namespace {

int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* chosen_size,
                    const unsigned char* offered, unsigned int offered_size, void*) {
    static constexpr std::array<unsigned char, 9> http_1_1{8,   'h', 't', 't', 'p',
                                                           '/', '1', '.', '1'};
    unsigned char* match = nullptr;
    if (::SSL_select_next_proto(&match, chosen_size, http_1_1.data(), http_1_1.size(), offered,
                                offered_size) != OPENSSL_NPN_NEGOTIATED) {
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    }
    *chosen = match;
    return SSL_TLSEXT_ERR_OK;
}

void set_rules(SSL_CTX& context) {
    ::SSL_CTX_set_min_proto_version(&context, TLS1_2_VERSION);
    if (::SSL_CTX_set_cipher_list(&context, "ECDHE+AESGCM:ECDHE+CHACHA20") != 1) {
        throw std::runtime_error("OpenSSL offers no cipher for TLS 1.2: " + openssl_reason());
    }
    // A peer that just closes is no error: the length of a request says whether it was cut.
    ::SSL_CTX_set_options(&context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION |
                                        SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA |
                                        SSL_OP_IGNORE_UNEXPECTED_EOF);
    // With auto retry "wants to read" always means that the socket is empty. Without buffers an
    // idle session costs little.
    ::SSL_CTX_set_mode(&context, SSL_MODE_AUTO_RETRY | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                     SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                     SSL_MODE_RELEASE_BUFFERS);
    // Sessions live in tickets, not in our memory.
    ::SSL_CTX_set_session_cache_mode(&context, SSL_SESS_CACHE_OFF);
    ::SSL_CTX_set_num_tickets(&context, 1);
    ::SSL_CTX_set_alpn_select_cb(&context, choose_protocol, nullptr);
}

std::shared_ptr<SSL_CTX> load(const TlsFiles& files) {
    std::shared_ptr<SSL_CTX> context(::SSL_CTX_new(::TLS_server_method()), &::SSL_CTX_free);
    if (!context) throw std::runtime_error("OpenSSL does not start: " + openssl_reason());
    set_rules(*context);
    use_certificate(*context, files);
    return context;
}

}  // namespace

Tls::Tls(TlsFiles files) : files_(std::move(files)), context_(load(files_)) {}

std::optional<std::string> Tls::reload() {
    try {
        Context fresh = load(files_);
        const std::lock_guard lock(mutex_);
        context_.swap(fresh);
        return std::nullopt;
    } catch (const std::exception& error) {
        return error.what();
    }
}

std::unique_ptr<TlsSession> Tls::session(int socket) const {
    Context context;
    {
        const std::lock_guard lock(mutex_);
        context = context_;
    }
    return std::make_unique<TlsSession>(*context, socket);
}

}  // namespace net
