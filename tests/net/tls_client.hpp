#pragma once

#include <openssl/ssl.h>

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "net/raw_client.hpp"

namespace net {

struct TlsClientOptions {
    int version_max = TLS1_3_VERSION;
    std::string protocols = "\x08http/1.1";  // ALPN
    long record_bytes_max = 16'384;
};

// A client that speaks TLS and believes every certificate. What it would send can be had as bytes
// instead, to be sent in pieces or not at all.
class TlsClient : public RawClient {
public:
    explicit TlsClient(int port, const TlsClientOptions& options = {}, int receive_buffer = 0)
        : RawClient(port, receive_buffer),
          context_(::SSL_CTX_new(::TLS_client_method()), &::SSL_CTX_free),
          ssl_(::SSL_new(context_.get()), &::SSL_free) {
        ::SSL_set_max_proto_version(ssl_.get(), options.version_max);
        ::SSL_set_alpn_protos(ssl_.get(),
                              reinterpret_cast<const unsigned char*>(options.protocols.data()),
                              static_cast<unsigned>(options.protocols.size()));
        ::SSL_set_max_send_fragment(ssl_.get(), options.record_bytes_max);
        ::SSL_set_bio(ssl_.get(), ::BIO_new(::BIO_s_mem()), ::BIO_new(::BIO_s_mem()));
        ::SSL_set_connect_state(ssl_.get());
    }

    // The first message of a handshake.
    [[nodiscard]] std::string hello() {
        ::SSL_do_handshake(ssl_.get());
        return take_output();
    }
    [[nodiscard]] bool shake_hands() {
        while (::SSL_do_handshake(ssl_.get()) != 1) {
            send_raw(take_output());
            if (::SSL_want(ssl_.get()) != SSL_READING || take_input() <= 0) return false;
        }
        return send_raw(take_output());
    }

    // `bytes` as records.
    [[nodiscard]] std::string seal(std::string_view bytes) {
        for (std::size_t count = 0; !bytes.empty(); bytes.remove_prefix(count)) {
            if (::SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &count) != 1) {
                throw std::runtime_error("SSL_write_ex");
            }
        }
        return take_output();
    }
    [[nodiscard]] std::string key_update() {
        ::SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_REQUESTED);
        ::SSL_do_handshake(ssl_.get());
        return take_output();
    }
    // TLS 1.2.
    [[nodiscard]] std::string renegotiation() {
        ::SSL_renegotiate(ssl_.get());
        return hello();
    }
    [[nodiscard]] std::string farewell() {
        ::SSL_shutdown(ssl_.get());
        return take_output();
    }

    bool send(std::string_view bytes) override { return send_raw(seal(bytes)); }

    [[nodiscard]] std::string certificate_name() const {
        const std::unique_ptr<X509, decltype(&::X509_free)> certificate(
            ::SSL_get1_peer_certificate(ssl_.get()), &::X509_free);
        std::array<char, 200> name{};
        ::X509_NAME_get_text_by_NID(::X509_get_subject_name(certificate.get()), NID_commonName,
                                    name.data(), static_cast<int>(name.size()));
        return name.data();
    }
    [[nodiscard]] std::string version() const { return ::SSL_get_version(ssl_.get()); }
    [[nodiscard]] std::string protocol() const {
        const unsigned char* chosen = nullptr;
        unsigned size = 0;
        ::SSL_get0_alpn_selected(ssl_.get(), &chosen, &size);
        return {reinterpret_cast<const char*>(chosen), size};
    }

protected:
    // 0: the server said that nothing more comes.
    ssize_t receive_some(std::span<char> space) override {
        for (;;) {
            std::size_t count = 0;
            const int result = ::SSL_read_ex(ssl_.get(), space.data(), space.size(), &count);
            if (result == 1) return static_cast<ssize_t>(count);
            const int error = ::SSL_get_error(ssl_.get(), result);
            if (error == SSL_ERROR_ZERO_RETURN) return 0;
            if (error != SSL_ERROR_WANT_READ || take_input() <= 0) return -1;
        }
    }

private:
    std::string take_output() {
        BIO* const bio = ::SSL_get_wbio(ssl_.get());
        std::string bytes(::BIO_ctrl_pending(bio), '\0');
        if (!bytes.empty()) ::BIO_read(bio, bytes.data(), static_cast<int>(bytes.size()));
        return bytes;
    }

    ssize_t take_input() {
        std::array<char, 65536> chunk;
        const auto count = receive_raw(chunk);
        if (count > 0) {
            ::BIO_write(::SSL_get_rbio(ssl_.get()), chunk.data(), static_cast<int>(count));
        }
        return count;
    }

    const std::unique_ptr<SSL_CTX, decltype(&::SSL_CTX_free)> context_;
    const std::unique_ptr<SSL, decltype(&::SSL_free)> ssl_;
};

}  // namespace net
