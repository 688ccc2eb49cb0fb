#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace net {

// Where a server is, taken apart (RFC 3986). All of it is secret.
struct Url {
    bool websocket = false;
    bool tls = false;
    std::string host;  // IPv6 without its brackets
    std::uint16_t port = 0;
    std::string target;         // path and query, never empty
    std::string credentials;    // `user:password` without escapes; empty: none
    std::string socket_file{};  // on this machine, instead of host and port; empty: none

    // For the field Host: without the port when it is the scheme's own.
    [[nodiscard]] std::string authority() const;
    // `host:port`, with brackets where they belong.
    [[nodiscard]] std::string host_and_port() const;
    // For the field Authorization (RFC 7617); empty: none.
    [[nodiscard]] std::string authorization() const;
    // The parts that may be keys, each long enough to be one, as they are sent and as a server may
    // say them back: without escapes, or as authorization(). The longest first.
    [[nodiscard]] std::vector<std::string> secrets() const;
};

// Those of a URL and a token that is sent with it, the longest first. Empty: without one.
[[nodiscard]] std::vector<std::string> with_token(std::vector<std::string> secrets,
                                                  const std::string& token);

// http, https, ws or wss. Nothing for anything else.
[[nodiscard]] std::optional<Url> parse_url(std::string_view text);

// What listens on a socket file (net/local_socket.hpp), plain.
[[nodiscard]] Url at_socket_file(std::string path);

// The same place with http for ws and https for wss: most nodes serve both on one port.
[[nodiscard]] std::string over_http(std::string_view url);

}  // namespace net
