#include "net/tls_files.hpp"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <new>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "base/descriptor.hpp"
#include "base/may_pass.hpp"

namespace net {

namespace {

constexpr std::size_t key_bytes_max = std::size_t{64} << 10U;
constexpr mode_t other_users = 07;

[[noreturn]] void refuse(std::string_view what, const std::string& file, const std::string& why) {
    throw std::runtime_error("cannot use the TLS " + std::string(what) + " " + file + ": " + why);
}

[[noreturn]] void refuse(std::string_view what, const std::string& file, int error) {
    if (base::may_pass(error)) {
        throw std::system_error(error, std::system_category(),
                                "cannot read the TLS " + std::string(what) + " " + file);
    }
    refuse(what, file, std::system_category().message(error));
}

// OpenSSL opens it by itself, and would wait for ever for the other end of a pipe.
void require_regular_file(const std::string& file) {
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0) {
        refuse("certificate", file, errno);
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
        refuse("key", file, errno);
    }
    if (!S_ISREG(status.st_mode)) refuse("key", file, "it is not a regular file");
    if ((status.st_mode & other_users) != 0) {
        refuse("key", file, "every user has access to it; run: chmod 640 " + file);
    }
    while (content.size < content.bytes.size()) {
        const auto count = ::read(key.get(), content.bytes.data() + content.size,
                                  content.bytes.size() - content.size);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) refuse("key", file, errno);
        if (count == 0) return;
        content.size += static_cast<std::size_t>(count);
    }
    refuse("key", file, "it is too large for a key");
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

}  // namespace

std::string openssl_reason() {
    const auto code = ::ERR_peek_error();
    ::ERR_clear_error();
    if (code == 0) return "unknown reason";
    if (ERR_SYSTEM_ERROR(code)) return std::system_category().message(ERR_GET_REASON(code));
    const char* reason = ::ERR_reason_error_string(code);
    return reason == nullptr ? "unknown reason" : reason;
}

int no_passphrase(char*, int, int, void*) {
    return -1;
}

void use_certificate(ssl_ctx_st& context, const TlsFiles& files) {
    if (files.certificate.empty()) refuse("key", files.key, "a certificate file is missing");
    if (files.key.empty()) refuse("certificate", files.certificate, "a key file is missing");
    ::SSL_CTX_set_default_passwd_cb(&context, no_passphrase);
    require_regular_file(files.certificate);
    ::ERR_clear_error();
    if (::SSL_CTX_use_certificate_chain_file(&context, files.certificate.c_str()) != 1) {
        const auto code = ::ERR_peek_error();
        const std::string reason = openssl_reason();
        if (ERR_SYSTEM_ERROR(code)) refuse("certificate", files.certificate, ERR_GET_REASON(code));
        refuse("certificate", files.certificate, reason);
    }
    const Key key = load_key(files.key);
    ::ERR_clear_error();
    if (::SSL_CTX_use_PrivateKey(&context, key.get()) != 1 ||
        ::SSL_CTX_check_private_key(&context) != 1) {
        refuse("key", files.key,
               "it does not belong to " + files.certificate + " (" + openssl_reason() + ")");
    }
}

}  // namespace net
