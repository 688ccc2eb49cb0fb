#include "net/tls.hpp"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "base/descriptor.hpp"

namespace net {

namespace {

constexpr std::size_t key_bytes_max = std::size_t{64} << 10U;
constexpr mode_t other_users = 07;

[[noreturn]] void refuse(std::string_view what, const std::string& file, const std::string& why) {
    throw std::runtime_error("cannot use the TLS " + std::string(what) + " " + file + ": " + why);
}

// Why the last call failed. OpenSSL's reasons are fixed texts.
std::string openssl_reason() {
    const auto code = ::ERR_peek_error();
    ::ERR_clear_error();
    if (code == 0) return "unknown reason";
    if (ERR_SYSTEM_ERROR(code)) return std::system_category().message(ERR_GET_REASON(code));
    const char* reason = ::ERR_reason_error_string(code);
    return reason == nullptr ? "unknown reason" : reason;
}

// OpenSSL opens it by itself, and would wait for ever for the other end of a pipe.
void require_regular_file(const std::string& file) {
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0) {
        refuse("certificate", file, std::system_category().message(errno));
    }
    if (!S_ISREG(status.st_mode)) refuse("certificate", file, "it is not a regular file");
}

struct Cleansed {
    std::array<char, key_bytes_max> bytes;
    std::size_t size = 0;

    ~Cleansed() { ::OPENSSL_cleanse(bytes.data(), bytes.size()); }
};

void read_key_file(const std::string& file, Cleansed& content) {
    const base::Descriptor key(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    if (!key.is_open() || ::fstat(key.get(), &status) != 0) {
        refuse("key", file, std::system_category().message(errno));
    }
    if (!S_ISREG(status.st_mode)) refuse("key", file, "it is not a regular file");
    if ((status.st_mode & other_users) != 0) {
        refuse("key", file, "every user has access to it; run: chmod 640 " + file);
    }
    while (content.size < content.bytes.size()) {
        const auto count = ::read(key.get(), content.bytes.data() + content.size,
                                  content.bytes.size() - content.size);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) refuse("key", file, std::system_category().message(errno));
        if (count == 0) return;
        content.size += static_cast<std::size_t>(count);
    }
    refuse("key", file, "it is too large for a key");
}

// Instead of asking at the terminal.
int no_passphrase(char*, int, int, void*) {
    return -1;
}

using Key = std::unique_ptr<EVP_PKEY, decltype(&::EVP_PKEY_free)>;

Key load_key(const std::string& file) {
    const auto content = std::make_unique<Cleansed>();
    read_key_file(file, *content);
    const std::unique_ptr<BIO, decltype(&::BIO_free)> bio(
        ::BIO_new_mem_buf(content->bytes.data(), static_cast<int>(content->size)), &::BIO_free);
    if (!bio) throw std::bad_alloc();
    ::ERR_clear_error();
    Key key(::PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr),
            &::EVP_PKEY_free);
    if (!key) {
        refuse("key", file, "no private key in PEM without passphrase (" + openssl_reason() + ")");
    }
    return key;
}

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
    ::SSL_CTX_set_default_passwd_cb(&context, no_passphrase);
}

std::shared_ptr<SSL_CTX> load(const TlsFiles& files) {
    if (files.certificate.empty()) refuse("key", files.key, "a certificate file is missing");
    if (files.key.empty()) refuse("certificate", files.certificate, "a key file is missing");
    std::shared_ptr<SSL_CTX> context(::SSL_CTX_new(::TLS_server_method()), &::SSL_CTX_free);
    if (!context) throw std::runtime_error("OpenSSL does not start: " + openssl_reason());
    set_rules(*context);
    require_regular_file(files.certificate);
    ::ERR_clear_error();
    if (::SSL_CTX_use_certificate_chain_file(context.get(), files.certificate.c_str()) != 1) {
        refuse("certificate", files.certificate, openssl_reason());
    }
    const Key key = load_key(files.key);
    ::ERR_clear_error();
    if (::SSL_CTX_use_PrivateKey(context.get(), key.get()) != 1 ||
        ::SSL_CTX_check_private_key(context.get()) != 1) {
        refuse("key", files.key,
               "it does not belong to " + files.certificate + " (" + openssl_reason() + ")");
    }
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
