#pragma once

#include <boost/asio/ssl/context.hpp>
#include <string>

#include "net/tls_files.hpp"

struct ssl_st;

// Includes Asio: for the files of net only.
namespace net {

// Our side of TLS 1.2 or later: the certificate has to be of an authority that the system trusts
// (or the file SSL_CERT_FILE names, or ClientTls::ca_file) and for the host's name or address.
class TlsTrust {
public:
    // Throws std::runtime_error, naming the file where it is one; std::system_error when it may be
    // readable later.
    explicit TlsTrust(const ClientTls& files = {});

    [[nodiscard]] boost::asio::ssl::context& context() { return context_; }

private:
    boost::asio::ssl::context context_;
};

// Before the handshake. False: the host is no name.
[[nodiscard]] bool expect_host(ssl_st* session, const std::string& host);
// After a handshake that failed.
[[nodiscard]] bool distrusts_certificate(ssl_st* session);
// No bytes of an application wait in it; what the peer had to say of TLS alone is taken.
[[nodiscard]] bool has_no_data(ssl_st* session);

}  // namespace net
