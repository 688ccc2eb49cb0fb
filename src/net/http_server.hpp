#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "net/http_application.hpp"
#include "net/http_message.hpp"

namespace net {

struct HttpOptions {
    std::string host = "127.0.0.1";            // a name: every address it has
    int port = 3000;                           // 0: any free one
    std::string address_setting = "--listen";  // named when the address can not be had
    // Instead of host and port a socket file, for this user and root alone. It goes with the
    // server.
    std::filesystem::path socket_file{};
    unsigned workers = 8;  // requests in HttpApplication::serve at the same time

    std::size_t head_bytes_max = std::size_t{32} << 10U;  // request line and headers
    std::size_t headers_max = 100;
    std::size_t body_bytes_max = std::size_t{2} << 20U;
    // Requests that are arriving or being answered, all together, beyond 4 KiB for each; and as
    // much again of answers that wait for their peers.
    std::size_t buffered_bytes_max = std::size_t{64} << 20U;
    // What the largest request may need of them: while a buffer grows there are two, and the lines
    // between chunks may take as much as a head.
    [[nodiscard]] std::size_t buffered_bytes_min() const {
        return 2 * (body_bytes_max + 2 * head_bytes_max + 1);
    }

    std::chrono::seconds idle_timeout{125};  // said in every answer
    // For a request to arrive whole from its first byte, and again for its answer to be taken.
    std::chrono::milliseconds request_deadline{30'000};

    std::size_t connections_max = 16'384;  // less where the limit of open files is near
    std::size_t connections_per_address_max = 8'192;
    // When full, the connection that is longest without a whole request makes room, whatever was
    // promised to it.
    bool makes_room = false;
    std::size_t descriptors_reserved = 128;  // open files left to everything else

    // PEM; both empty: plain TCP. See TlsFiles.
    std::string tls_certificate_file{};
    std::string tls_key_file{};
};

struct HttpCounts {
    std::size_t connections = 0;            // open now
    std::uint64_t connections_refused = 0;  // over a limit
    std::uint64_t requests_read = 0;  // whole ones, and those whose head was enough for an answer
    std::uint64_t requests_unreadable = 0;  // failed handshakes among them
    std::uint64_t handshakes_failed = 0;    // TLS; not those of a peer that never sent anything
    std::size_t bytes_buffered = 0;         // now, in requests and answers beyond 4 KiB for each
};

// HTTP/1.1 over TCP, TLS or a socket file for an application: connections, budgets and deadlines
// are dealt with here. Only whole requests that keep to all of them reach HttpApplication::serve.
class HttpServer {
public:
    // Raises the limit of open files as far as it may, loads the certificate and binds. Throws
    // std::runtime_error naming the limit, file or address and the reason. `listening`: sockets of
    // that address that listen already, see take_over(); none: it makes its own.
    HttpServer(const HttpOptions& options, HttpApplication& application,
               std::vector<base::Descriptor> listening = {});
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;
    // Waits for the calls of the application in progress and closes every connection.
    ~HttpServer();

    // Connections that came before wait until here.
    void start();
    [[nodiscard]] int port() const;  // 0: a socket file

    // Any thread. New connections are refused from now on.
    void stop_accepting();
    // Any thread. Stops accepting, closes idle connections, answers the requests that are here or
    // arriving, and closes after each answer. True: every connection is closed.
    [[nodiscard]] bool drain(std::chrono::milliseconds patience);
    // Any thread.
    [[nodiscard]] HttpCounts counts() const;
    // Any thread. Reads certificate and key again; connections in being keep theirs. What is wrong
    // with the files otherwise: nothing has changed. Does nothing without TLS.
    [[nodiscard]] std::optional<std::string> reload_tls();

private:
    class Running;
    const std::unique_ptr<Running> running_;
};

}  // namespace net
