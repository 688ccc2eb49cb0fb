#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "net/client_context.hpp"
#include "net/tls_files.hpp"
#include "net/transport_error.hpp"
#include "net/url.hpp"

namespace net {

struct ClientRequest {
    std::string_view method{};
    // Goes behind the path of the URL, `/` first, perhaps with a query; the URL's own query stays.
    // Empty: the URL as it is.
    std::string_view target{};
    std::string_view body{};  // not of a GET or HEAD
    // Beside those of every request. An Accept, Authorization, Content-Type or User-Agent takes the
    // place of ours: JSON, and the credentials of the URL.
    std::vector<std::pair<std::string, std::string>> headers{};
    // For a request that somebody else has made: nothing of ours where these headers have none, and
    // the answer's headers are wanted.
    bool passed_on = false;
    // It changes nothing, or nothing more when it comes a second time.
    bool repeatable = false;
    std::size_t response_bytes_max = 0;  // of the body; 0: as the client has it
    // Called on the I/O thread each time the socket has taken all of it; must neither block nor
    // throw.
    std::function<void()> written{};
};

struct ClientResponse {
    int status = 0;
    std::string body;
    std::optional<std::string> retry_after;  // the field as it came
    // Of a request that is passed on: all fields, as they came.
    std::vector<std::pair<std::string, std::string>> headers{};
};

// The same with texts of its own.
struct OwnedRequest {
    std::string method;
    std::string target{};
    std::string body{};
    std::vector<std::pair<std::string, std::string>> headers{};
    bool repeatable = false;
    std::function<void()> written{};
};

// An answer of any status, or an error that is never `throttled`; `unsent` too when target or
// headers would break the request (control characters, framing).
using ClientResult = std::variant<ClientResponse, TransportError>;

// HTTP/1.1 (RFC 9112) to one URL, through a proxy where one is set. As many connections as
// exchanges at once, the idle ones kept for the next (at most `idle_max`). Any thread.
//
// A head may have 64 KiB; redirects are not followed, encodings not undone (none is offered).
// Whenever an idle connection ends before the first byte of an answer, a repeatable request is sent
// once more on a fresh one.
class Client {
public:
    // `context` null: one of its own. Throws std::runtime_error when TLS can not be set up, with
    // the file where it is one of `tls`.
    Client(Url url, std::size_t response_bytes_max, std::shared_ptr<ClientContext> context,
           const ClientTls& tls = {}, std::size_t idle_max = 8);
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;
    ~Client();  // stops; not from a `done`

    // Blocks until the answer. `timeout`: from look-up to last byte.
    [[nodiscard]] ClientResult exchange(const ClientRequest& request,
                                        std::chrono::milliseconds timeout);

    // The same without a thread that waits: `done` is called once, on the I/O thread or, once
    // stopped, at once; it must neither block nor throw. A POST of JSON to the URL as it is.
    using Done = std::function<void(ClientResult)>;
    void post(std::string json, bool repeatable, std::chrono::milliseconds timeout, Done done);
    // Likewise, whatever is asked for.
    void send(OwnedRequest request, std::chrono::milliseconds timeout, Done done);

    // The same without a copy: `request`, and what it views, live until `done`. Returns what ends
    // this exchange early, as lost; to be called from any thread, at any time, also never.
    [[nodiscard]] std::function<void()> start(const ClientRequest& request,
                                              std::chrono::milliseconds timeout, Done done);

    // Exchanges under way end as `stopped`, and so does every later one. Returns when the last
    // `done` has returned, unless called by one.
    void stop();
    [[nodiscard]] bool is_stopped() const;

    // Parts of the URL that may be keys; the longest first.
    [[nodiscard]] const std::vector<std::string>& secrets() const;

private:
    class Impl;
    std::shared_ptr<ClientContext> context_;
    std::unique_ptr<Impl> impl_;  // goes away before the thread it runs on
};

}  // namespace net
