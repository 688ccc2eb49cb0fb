#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "chains/jsonrpc/connection.hpp"

namespace chains::jsonrpc {

struct HttpResponse {
    int status = 0;
    std::string body;
    std::optional<std::string> retry_after;  // the field as it came
    bool keeps_alive = false;                // the connection may carry another exchange
};

// The answer to a request for another protocol.
struct HttpUpgrade {
    int status = 0;  // 101: it is spoken from now on
    std::optional<std::string> retry_after;
    bool to_websocket = false;
    std::string websocket_accept;
    std::string rest;  // came behind the head
};

enum class HttpFault {
    silent_end,  // the connection ended before the first byte
    broken,      // it ended in the middle
    timed_out,
    stopped,
    malformed,  // no HTTP/1
    too_large,
};

// Reads the answer to one request (RFC 9112). Head and trailers may have 64 KiB, the body as many
// bytes as told; redirects are not followed, encodings not undone (none was offered).
class HttpResponseReader {
public:
    HttpResponseReader(Connection& connection, Deadline deadline, const Signal& stop,
                       std::size_t body_bytes_max);

    [[nodiscard]] std::variant<HttpResponse, HttpFault> read();
    // The head alone.
    [[nodiscard]] std::variant<HttpUpgrade, HttpFault> read_upgrade();

private:
    struct Framing {
        std::optional<std::size_t> length;
        bool chunked = false;
        bool closes = false;  // after this response
    };

    // Each is false after a fault, which is then in fault_.
    [[nodiscard]] bool fail(HttpFault fault);
    [[nodiscard]] bool fill();
    [[nodiscard]] bool read_line(std::string& line);
    [[nodiscard]] bool read_head();
    [[nodiscard]] bool read_status_line();
    [[nodiscard]] bool read_field(std::string_view line);
    [[nodiscard]] bool read_length(std::string_view value);
    [[nodiscard]] bool read_body();
    [[nodiscard]] bool read_bytes(std::size_t count);
    [[nodiscard]] bool read_chunks();
    [[nodiscard]] bool read_until_end();

    Connection& connection_;
    const Deadline deadline_;
    const Signal& stop_;
    const std::size_t body_bytes_max_;

    std::string buffer_;  // read from the connection, not yet taken
    bool heard_ = false;
    bool ended_ = false;  // the peer sends no more
    std::size_t head_bytes_ = 0;
    Framing framing_;
    HttpResponse response_;
    HttpUpgrade upgrade_;
    HttpFault fault_ = HttpFault::malformed;
};

}  // namespace chains::jsonrpc
