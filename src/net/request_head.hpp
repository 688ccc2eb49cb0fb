#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "net/http_message.hpp"

namespace net {

// Reads request line, headers and chunks of HTTP/1.0 and 1.1 (RFC 9112) with Beast's parser,
// strictly: whatever two readers could understand differently is malformed. That covers bare line
// feeds, folded headers, spaces before a colon, control characters, a repeated Host,
// Content-Length or Transfer-Encoding, both a length and chunks, and a missing Host.

struct ReadingLimits {
    std::size_t head_bytes_max = std::size_t{32} << 10U;
    std::size_t headers_max = 100;
    std::size_t body_bytes_max = std::size_t{2} << 20U;
};

struct RequestHead {
    HttpRequest request;         // as much of it as could be read
    std::size_t body_bytes = 0;  // announced; of chunks, what has arrived of them
    bool chunked = false;
    bool keep_alive = false;
    bool continue_expected = false;
    std::optional<HttpProblem> head_problem;  // nothing after it was looked at
    std::optional<HttpProblem> body_problem;  // the head is fine, its body must not be read

    [[nodiscard]] bool announces_body() const {
        return body_bytes > 0 || chunked || body_problem.has_value();
    }
};

// Finds where a head ends while it is still arriving; looks at every byte once. It also finds what
// Beast's parser does not tell: folded headers, which it joins (RFC 9112, 5.2), and a bare line
// feed before the rest of the head is there.
class HeadEnd {
public:
    // Bytes of the head with its empty line; nothing: more must come. `bytes` grows at its end.
    [[nodiscard]] std::optional<std::size_t> find(std::string_view bytes);
    // Waiting longer is useless.
    [[nodiscard]] bool malformed() const { return malformed_; }

private:
    std::size_t line_start_ = 0;
    std::size_t scanned_ = 0;
    bool malformed_ = false;
};

// `bytes` is a whole head that HeadEnd has found or, to name the route of a broken one, what there
// is of it. Writes into `head` so that its memory is used again.
void read_head(std::string_view bytes, const ReadingLimits& limits, RequestHead& head);

// Takes a chunked body (RFC 9112, 7.1) apart.
class ChunkedBody {
public:
    explicit ChunkedBody(const ReadingLimits& limits);
    ~ChunkedBody();

    struct Progress {
        std::size_t consumed = 0;  // of the bytes
        bool done = false;         // the last chunk and its trailer are among them
        std::optional<HttpProblem> problem;
    };
    // `raw` is what has arrived behind the last byte consumed. Adds to `pieces` what of it is data;
    // trailers are dropped. `raw` and what is consumed of it stay where they are meanwhile.
    [[nodiscard]] Progress read(std::string_view raw, std::vector<std::string_view>& pieces);

private:
    class Parser;
    const std::unique_ptr<Parser> parser_;
    const std::size_t raw_bytes_max_;
};

}  // namespace net
