#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "chains/jsonrpc/connection.hpp"
#include "chains/jsonrpc/http_request.hpp"
#include "chains/jsonrpc/http_response.hpp"
#include "chains/jsonrpc/standing.hpp"

namespace chains::jsonrpc {

using Posted = std::variant<HttpResponse, Trouble>;

// One URL and its connections; as many as threads that ask at once, the idle ones kept for the next
// (at most 8). Any thread.
class Endpoint {
public:
    // `tls` is null for http.
    Endpoint(Url url, std::shared_ptr<const TlsContext> tls, std::size_t response_bytes_max);

    // One exchange; a second one on a fresh connection when it is repeatable and the idle
    // connection ended before the first byte of an answer. An HTTP answer of any status, or trouble
    // that is neither `throttled` nor about its content; `unsent` too when target or headers would
    // break the request (control characters, framing). `timeout`: from look-up to last byte.
    [[nodiscard]] Posted exchange(const HttpRequest& request, domain::Milliseconds timeout,
                                  const Signal& stop);
    // Of JSON, to the URL as it is.
    [[nodiscard]] Posted post(std::string_view json, bool repeatable, domain::Milliseconds timeout,
                              const Signal& stop);

    [[nodiscard]] Standing& standing() { return standing_; }
    [[nodiscard]] const std::vector<std::string>& secrets() const { return secrets_; }

private:
    using Line = std::unique_ptr<Connection>;

    [[nodiscard]] std::variant<HttpResponse, HttpFault> ask(Line line, std::string_view text,
                                                            std::size_t response_bytes_max,
                                                            Deadline deadline, const Signal& stop);
    [[nodiscard]] Line take_idle();
    void keep(Line line);
    void drop_idle();

    const Url url_;
    const std::shared_ptr<const TlsContext> tls_;
    const std::size_t response_bytes_max_;
    const std::vector<std::string> secrets_;
    Standing standing_;

    std::mutex mutex_;
    std::vector<Line> idle_;  // the last used at the back
};

}  // namespace chains::jsonrpc
