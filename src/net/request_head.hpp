#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "net/http_message.hpp"

namespace net {

// Reads request line and headers of HTTP/1.0 and 1.1 (RFC 9112), strictly: whatever two readers
// could understand differently is malformed. That covers bare line feeds, folded headers, spaces
// before a colon, control characters, a repeated Host or Content-Length, and a missing Host.

struct ReadingLimits {
    std::size_t head_bytes_max = std::size_t{32} << 10U;
    std::size_t headers_max = 100;
    std::size_t body_bytes_max = std::size_t{2} << 20U;
};

struct RequestHead {
    HttpRequest request;  // as much of it as could be read
    std::size_t body_bytes = 0;
    bool keep_alive = false;
    bool continue_expected = false;
    std::optional<HttpProblem> head_problem;  // nothing after it was looked at
    std::optional<HttpProblem> body_problem;  // the head is fine, its body must not be read
};

// Finds where a head ends while it is still arriving; looks at every byte once.
class HeadEnd {
public:
    // Bytes of the head with its empty line; nothing: more must come. `bytes` grows at its end.
    [[nodiscard]] std::optional<std::size_t> find(std::string_view bytes);
    // A line ended without a carriage return: waiting longer is useless.
    [[nodiscard]] bool malformed() const { return malformed_; }

private:
    std::size_t line_start_ = 0;
    std::size_t scanned_ = 0;
    bool malformed_ = false;
};

// `bytes` is a whole head or, to name the route of a broken one, what there is of it. Writes into
// `head` so that its memory is used again.
void read_head(std::string_view bytes, const ReadingLimits& limits, RequestHead& head);

}  // namespace net
