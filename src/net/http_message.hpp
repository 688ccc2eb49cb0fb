#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace net {

struct HttpHeader {
    std::string_view name;
    std::string_view value;
};

// One request, as views into the bytes that arrived: valid until it is answered.
struct HttpRequest {
    std::string_view method;
    std::string_view target;  // as sent
    std::string_view path;    // the target up to '?', not percent-decoded
    std::string_view query;   // what follows the '?', not percent-decoded
    std::vector<HttpHeader> headers;
    std::string_view body;
    std::string_view remote;  // address of the peer, without port

    // The first header of that name, in any letter case.
    [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const;
};

struct HttpResponse {
    int status = 200;
    std::vector<std::pair<std::string, std::string>> headers;
    std::string body;
    std::string content_type = "application/json";  // empty: no Content-Type header
    // To a HEAD whose body was left out before: how long it would be.
    std::optional<std::size_t> omitted_bytes{};
    // In place of `body`: a text that is there for ever, and is sent from where it is.
    std::string_view fixed_body{};
};

// Where an answer goes that may come later, from any thread. Called once.
using Respond = std::function<void(HttpResponse)>;

// Takes a function that is called once when the peer hangs up before its answer; empty: nobody
// would know.
using WhenGone = std::function<void(std::function<void()>)>;

// Why a request could not be read. The connection closes after the answer.
enum class HttpProblem {
    malformed_head,
    head_too_large,
    headers_too_many,
    version_unsupported,
    expectation_unsupported,
    transfer_encoding,
    content_encoding,
    body_too_large,
    malformed_body,
    truncated,
    deadline,
    overloaded,
    connections_too_many,  // nothing of a request was looked at
};

// The status code HTTP has for a problem.
[[nodiscard]] int status_of(HttpProblem problem);
// What is wrong and what would help, in one sentence.
[[nodiscard]] std::string_view text_of(HttpProblem problem);

// What becomes of the connection after an answer.
struct Persistence {
    bool keep_alive = false;
    std::chrono::seconds idle_timeout{0};
};

// The bytes of an answer, head and body in one piece; a fixed body comes behind them. `date` as
// http_date has it; `body_omitted` for answers to HEAD.
[[nodiscard]] std::string to_bytes(const HttpResponse& response, const Persistence& persistence,
                                   std::string_view date, bool body_omitted);

// `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, 5.6.7).
[[nodiscard]] std::string http_date(std::chrono::sys_seconds time);
// Of now; until the next call of this thread.
[[nodiscard]] std::string_view http_date_now();

[[nodiscard]] bool equal_ignoring_case(std::string_view left, std::string_view right);

}  // namespace net
