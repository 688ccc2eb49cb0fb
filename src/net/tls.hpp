#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "net/tls_files.hpp"
#include "net/tls_session.hpp"

namespace net {

// The certificate in use, and the rules for sessions that show it: TLS 1.2 with forward secrecy or
// 1.3, HTTP/1.1 in ALPN (RFC 7301), no renegotiation, no compression, no early data.
class Tls {
public:
    // Throws std::runtime_error naming the file and what is wrong with it. A key that every user of
    // the machine may read is refused.
    explicit Tls(TlsFiles files);

    // Any thread. Reads the files again, for the sessions from now on; those in being go on as they
    // are. What is wrong otherwise: the old certificate stays.
    [[nodiscard]] std::optional<std::string> reload();

    // Any thread. A session on a socket that was accepted. Throws std::bad_alloc.
    [[nodiscard]] std::unique_ptr<TlsSession> session(int socket) const;

private:
    using Context = std::shared_ptr<ssl_ctx_st>;

    const TlsFiles files_;
    mutable std::mutex mutex_;
    Context context_;
};

}  // namespace net
