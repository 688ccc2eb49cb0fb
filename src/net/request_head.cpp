#include "net/request_head.hpp"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <cstdint>
#include <limits>
#include <utility>

#include "base/text.hpp"

namespace net {

namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;

using base::is_control;

// The shortest bytes a body of chunks can end with: "0", and two empty lines.
constexpr std::size_t last_chunk_bytes = 5;

// Of a request line that does not end: longer than the name of any route.
constexpr std::size_t route_bytes_max = std::size_t{1} << 10U;

std::string_view view(beast::string_view text) {
    return {text.data(), text.size()};
}

// Path and query of the target's origin, absolute or asterisk form; false for anything else.
bool split_target(HttpRequest& request) {
    std::string_view local = request.target;
    for (const std::string_view scheme : {"http://", "https://"}) {
        if (!equal_ignoring_case(local.substr(0, scheme.size()), scheme)) continue;
        local.remove_prefix(scheme.size());
        local.remove_prefix(std::min(local.find_first_of("/?"), local.size()));
        if (local.empty() || local.front() == '?') {
            request.path = "/";
            request.query = local.empty() ? local : local.substr(1);
            return true;
        }
        break;
    }
    const auto mark = local.find('?');
    request.path = local.substr(0, mark);
    request.query = mark == std::string_view::npos ? std::string_view{} : local.substr(mark + 1);
    return request.path.starts_with('/') || request.target == "*";
}

// Beast's parser, the parts of it that do not matter here answered.
class ParserBase : public http::basic_parser<true> {
protected:
    using Error = boost::beast::error_code;
    using Text = beast::string_view;

    ParserBase() {
        // Both are bounded by what is handed in.
        header_limit(std::numeric_limits<std::uint32_t>::max());
        body_limit(boost::none);
    }

    void on_request_impl(http::verb, Text, Text, int, Error&) override {}
    void on_response_impl(int, Text, int, Error&) override {}
    void on_field_impl(http::field, Text, Text, Error&) override {}
    void on_header_impl(Error&) override {}
    void on_body_init_impl(const boost::optional<std::uint64_t>&, Error&) override {}
    std::size_t on_body_impl(Text body, Error&) override { return body.size(); }
    void on_chunk_header_impl(std::uint64_t, Text, Error&) override {}
    std::size_t on_chunk_body_impl(std::uint64_t, Text body, Error&) override {
        return body.size();
    }
    void on_finish_impl(Error&) override {}
};

class HeadParser : public ParserBase {
public:
    HeadParser(const ReadingLimits& limits, RequestHead& head) : limits_(limits), head_(head) {}

    void read(std::string_view bytes) {
        // Whoever floods us with one endless line is not worth the parser's time.
        if (bytes.find('\n') == std::string_view::npos) {
            head_.head_problem = HttpProblem::malformed_head;
            return read_target(bytes.substr(0, route_bytes_max));
        }
        Error error;
        const std::size_t consumed = put({bytes.data(), bytes.size()}, error);
        if (error) {
            head_.head_problem = problem_.value_or(HttpProblem::malformed_head);
            if (error == http::error::bad_version) read_version(bytes);
            if (error == http::error::bad_content_length) read_length(bytes.substr(consumed));
            if (head_.request.target.empty()) read_target(bytes);
        }
    }

private:
    void on_request_impl(http::verb, Text method, Text target, int version, Error& error) override {
        is_1_1_ = version == 11;
        head_.request.method = view(method);
        head_.request.target = view(target);
        if (!split_target(head_.request)) error = http::error::bad_target;
    }

    void on_field_impl(http::field field, Text name, Text value, Error& error) override {
        auto& headers = head_.request.headers;
        if (headers.size() == limits_.headers_max) {
            problem_ = HttpProblem::headers_too_many;
            error = http::error::header_limit;
            return;
        }
        headers.push_back({view(name), view(value)});
        switch (field) {
            case http::field::host:
                if (++hosts_ > 1) error = http::error::bad_field;
                return;
            // Beast takes equal ones that come twice, and lists of them.
            case http::field::content_length:
                if (++lengths_ > 1 || value.find(',') != Text::npos) {
                    error = http::error::multiple_content_length;
                }
                return;
            // Two lines are one list (RFC 9110, 5.3), and Beast looks at one line.
            case http::field::transfer_encoding:
                if (transfer_encoded_) error = http::error::bad_transfer_encoding;
                transfer_encoded_ = true;
                head_.chunked = equal_ignoring_case(view(value), "chunked");
                return;
            case http::field::content_encoding:
                encoded_ =
                    encoded_ || !(value.empty() || equal_ignoring_case(view(value), "identity"));
                return;
            case http::field::expect:
                head_.continue_expected = is_1_1_;
                if (equal_ignoring_case(view(value), "100-continue")) return;
                problem_ = HttpProblem::expectation_unsupported;
                error = http::error::bad_value;
                return;
            case http::field::connection:
                close_ = close_ || http::token_list{value}.exists("close");
                keep_alive_ = keep_alive_ || http::token_list{value}.exists("keep-alive");
                return;
            default:
                return;
        }
    }

    void on_header_impl(Error& error) override {
        if (hosts_ == 0 && is_1_1_) error = http::error::bad_field;
        // An older peer does not know them: somebody between has made them up (RFC 9112, 6.1).
        // A length beside what is no chunks is not seen by Beast.
        if (transfer_encoded_ && (!is_1_1_ || lengths_ > 0)) {
            error = http::error::bad_transfer_encoding;
        }
        if (error) return;
        head_.body_bytes = static_cast<std::size_t>(content_length().value_or(0));
        head_.keep_alive = (is_1_1_ || keep_alive_) && !close_;
        if (transfer_encoded_ && !head_.chunked) {
            head_.body_problem = HttpProblem::transfer_encoding;
        } else if (head_.body_bytes > limits_.body_bytes_max) {
            head_.body_problem = HttpProblem::body_too_large;
        } else if (encoded_) {
            head_.body_problem = HttpProblem::content_encoding;
        }
    }

    // Beast does not tell a version it does not know from what is none.
    void read_version(std::string_view bytes) {
        const auto line = bytes.substr(0, bytes.find("\r\n"));
        const auto method_end = line.find(' ');
        const auto version = line.substr(std::min(line.find(' ', method_end + 1), line.size()));
        if (version.starts_with(" HTTP/") && std::ranges::none_of(version, is_control)) {
            head_.head_problem = HttpProblem::version_unsupported;
        }
    }

    // Nor a length that is too large for a number from one that is none. `line` begins with it.
    void read_length(std::string_view line) {
        const auto value = line.substr(0, line.find('\r')).substr(line.find(':') + 1);
        const auto number = value.substr(std::min(value.find_first_not_of(" \t"), value.size()));
        const auto digits = number.find_first_not_of("0123456789");
        const auto behind = number.substr(std::min(digits, number.size()));
        if (digits == 0 || behind.find_first_not_of(" \t") != std::string_view::npos) return;
        if (number.size() > std::numeric_limits<std::uint64_t>::digits10) {
            head_.head_problem = HttpProblem::body_too_large;
        }
    }

    // Of a request line that Beast has given up on: for the route to be answered in its own way.
    void read_target(std::string_view bytes) {
        const auto method_end = bytes.find(' ');
        const auto method = bytes.substr(0, method_end);
        if (method_end == std::string_view::npos || method.empty()) return;
        if (std::ranges::any_of(method, is_control)) return;
        const auto rest = bytes.substr(method_end + 1);
        const auto end = std::ranges::find_if(
            rest, [](char character) { return is_control(character) || character == ' '; });
        head_.request.method = method;
        head_.request.target = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
        if (!split_target(head_.request)) head_.request.path = {};
    }

    const ReadingLimits& limits_;
    RequestHead& head_;
    bool is_1_1_ = false;
    std::size_t hosts_ = 0;
    std::size_t lengths_ = 0;
    bool close_ = false;
    bool keep_alive_ = false;
    bool encoded_ = false;
    bool transfer_encoded_ = false;
    std::optional<HttpProblem> problem_;
};

void clear(RequestHead& head) {
    auto headers = std::move(head.request.headers);
    headers.clear();
    head = {};
    head.request.headers = std::move(headers);
}

}  // namespace

std::optional<std::size_t> HeadEnd::find(std::string_view bytes) {
    while (!malformed_) {
        const auto feed = bytes.find('\n', scanned_);
        if (feed == std::string_view::npos) {
            scanned_ = bytes.size();
            return std::nullopt;
        }
        const auto length = feed - line_start_;
        const bool folded =
            line_start_ > 0 && (bytes[line_start_] == ' ' || bytes[line_start_] == '\t');
        if (length == 0 || bytes[feed - 1] != '\r' || folded) {
            malformed_ = true;
        } else if (length == 1) {
            return feed + 1;
        } else {
            scanned_ = line_start_ = feed + 1;
        }
    }
    return std::nullopt;
}

void read_head(std::string_view bytes, const ReadingLimits& limits, RequestHead& head) {
    clear(head);
    HeadParser(limits, head).read(bytes);
}

class ChunkedBody::Parser : public ParserBase {
public:
    explicit Parser(const ReadingLimits& limits) : limits_(limits) {
        // Beast has no parser for chunks alone.
        const std::string_view head = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
        Error error;
        put({head.data(), head.size()}, error);
        head_read_ = true;
        eager(true);
    }

    [[nodiscard]] Progress read(std::string_view raw, std::vector<std::string_view>& pieces) {
        pieces_ = &pieces;
        Progress progress;
        // With less of the last chunk than this, Beast asserts that there is more.
        while (!is_done() && raw.size() - progress.consumed >= last_chunk_bytes) {
            Error error;
            const auto rest = raw.substr(progress.consumed);
            const std::size_t consumed = put({rest.data(), rest.size()}, error);
            progress.consumed += consumed;
            if (error && error != http::error::need_more) {
                progress.problem = problem_.value_or(HttpProblem::malformed_body);
                return progress;
            }
            if (consumed == 0) break;
        }
        progress.done = is_done();
        return progress;
    }

private:
    void on_chunk_header_impl(std::uint64_t size, Text extension, Error& error) override {
        if (size > limits_.body_bytes_max - body_bytes_) {
            problem_ = HttpProblem::body_too_large;
            error = http::error::body_limit;
            return;
        }
        body_bytes_ += static_cast<std::size_t>(size);
        extension_bytes_ += extension.size();
        // Beast takes all of them between quotes.
        const bool has_control =
            std::ranges::any_of(view(extension), [](char c) { return is_control(c) && c != '\t'; });
        if (has_control || extension_bytes_ > limits_.head_bytes_max) {
            error = http::error::bad_chunk_extension;
        }
    }

    std::size_t on_chunk_body_impl(std::uint64_t, Text body, Error&) override {
        pieces_->push_back(view(body));
        return body.size();
    }

    void on_field_impl(http::field, Text, Text, Error& error) override {
        if (head_read_ && ++trailers_ > limits_.headers_max) error = http::error::header_limit;
    }

    const ReadingLimits limits_;
    std::vector<std::string_view>* pieces_ = nullptr;
    bool head_read_ = false;
    std::size_t body_bytes_ = 0;
    std::size_t extension_bytes_ = 0;
    std::size_t trailers_ = 0;
    std::optional<HttpProblem> problem_;
};

ChunkedBody::ChunkedBody(const ReadingLimits& limits)
    : parser_(std::make_unique<Parser>(limits)), raw_bytes_max_(limits.head_bytes_max) {}

ChunkedBody::~ChunkedBody() = default;

ChunkedBody::Progress ChunkedBody::read(std::string_view raw,
                                        std::vector<std::string_view>& pieces) {
    Progress progress = parser_->read(raw, pieces);
    // What is left is the beginning of a line, or of a trailer.
    const std::size_t left = raw.size() - progress.consumed;
    if (!progress.done && !progress.problem && left >= raw_bytes_max_) {
        progress.problem = HttpProblem::malformed_body;
    }
    return progress;
}

}  // namespace net
