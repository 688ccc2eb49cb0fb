#pragma once

#include <memory>
#include <string>

struct ssl_st;
struct ssl_ctx_st;

namespace chains::jsonrpc {

struct TlsSessionDeleter {
    void operator()(ssl_st* session) const;
};
using TlsSession = std::unique_ptr<ssl_st, TlsSessionDeleter>;

// Our side of TLS 1.2 or later towards nodes: the certificate has to be of an authority that the
// system trusts (or the file SSL_CERT_FILE names) and for the host's name or address. Any thread.
class TlsContext {
public:
    TlsContext();  // throws std::runtime_error

    // On a non-blocking socket, before the handshake; null when memory is short or the host is no
    // name.
    [[nodiscard]] TlsSession session(int socket, const std::string& host) const;

private:
    std::shared_ptr<ssl_ctx_st> context_;
};

}  // namespace chains::jsonrpc
