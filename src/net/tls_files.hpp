#pragma once

#include <string>

struct ssl_ctx_st;

namespace net {

// PEM files: the certificate with its chain behind it, and its private key without passphrase.
struct TlsFiles {
    std::string certificate;
    std::string key;
};

// Whom a client trusts and what it shows; paths of PEM files, empty: none.
struct ClientTls {
    std::string ca_file;  // instead of the system's authorities
    TlsFiles own;         // for servers that ask for a certificate

    [[nodiscard]] bool is_empty() const {
        return ca_file.empty() && own.certificate.empty() && own.key.empty();
    }
};

// Shows it from now on. Throws std::runtime_error naming the file and what is wrong with it: a key
// that every user of the machine may read is refused. std::system_error when it may be readable
// later.
void use_certificate(ssl_ctx_st& context, const TlsFiles& files);

// Why the last call of OpenSSL failed, in its fixed texts.
[[nodiscard]] std::string openssl_reason();

// Instead of asking at the terminal.
int no_passphrase(char* buffer, int size, int writing, void* data);

}  // namespace net
