#include "net/http_message.hpp"

#include <algorithm>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/serializer.hpp>

namespace net {

namespace {

namespace http = boost::beast::http;

char lower(char character) {
    return character >= 'A' && character <= 'Z' ? static_cast<char>(character + ('a' - 'A'))
                                                : character;
}

// Where Beast has an older name than RFC 9110.
void set_reason(http::response_header<>& head) {
    if (head.result_int() == 413) head.reason("Content Too Large");
    if (head.result_int() == 422) head.reason("Unprocessable Content");
}

// A line break in a value would let its author write headers of his own.
std::string one_line(std::string value) {
    std::replace_if(
        value.begin(), value.end(),
        [](char character) { return character == '\r' || character == '\n' || character == '\0'; },
        ' ');
    return value;
}

}  // namespace

bool equal_ignoring_case(std::string_view left, std::string_view right) {
    return left.size() == right.size() &&
           std::equal(left.begin(), left.end(), right.begin(),
                      [](char one, char other) { return lower(one) == lower(other); });
}

std::optional<std::string_view> HttpRequest::header(std::string_view name) const {
    const auto found = std::find_if(headers.begin(), headers.end(), [&](const HttpHeader& header) {
        return equal_ignoring_case(header.name, name);
    });
    if (found == headers.end()) return std::nullopt;
    return found->value;
}

int status_of(HttpProblem problem) {
    switch (problem) {
        case HttpProblem::malformed_head:
            return 400;
        case HttpProblem::head_too_large:
            return 431;
        case HttpProblem::headers_too_many:
            return 431;
        case HttpProblem::version_unsupported:
            return 505;
        case HttpProblem::expectation_unsupported:
            return 417;
        case HttpProblem::transfer_encoding:
            return 411;
        case HttpProblem::content_encoding:
            return 415;
        case HttpProblem::body_too_large:
            return 413;
        case HttpProblem::malformed_body:
        case HttpProblem::truncated:
            return 400;
        case HttpProblem::deadline:
            return 408;
        case HttpProblem::overloaded:
        case HttpProblem::connections_too_many:
            return 503;
    }
    return 400;
}

std::string_view text_of(HttpProblem problem) {
    switch (problem) {
        case HttpProblem::malformed_head:
            return "the request line or a header is malformed; send HTTP/1.1 with one Host header, "
                   "one Content-Length and CRLF line ends";
        case HttpProblem::head_too_large:
            return "the request line and headers are too large; send fewer or shorter headers";
        case HttpProblem::headers_too_many:
            return "too many headers; send fewer";
        case HttpProblem::version_unsupported:
            return "this HTTP version is not supported; send HTTP/1.1";
        case HttpProblem::expectation_unsupported:
            return "this Expect header is not supported; send 100-continue or none";
        case HttpProblem::transfer_encoding:
            return "this Transfer-Encoding is not supported; send the body chunked or with a "
                   "Content-Length";
        case HttpProblem::content_encoding:
            return "Content-Encoding is not supported; send the body uncompressed";
        case HttpProblem::body_too_large:
            return "the body is too large";
        case HttpProblem::malformed_body:
            return "the chunks of the body are malformed; send it as RFC 9112, section 7.1, says, "
                   "or "
                   "with a Content-Length";
        case HttpProblem::truncated:
            return "the connection ended before the whole request came";
        case HttpProblem::deadline:
            return "the request took too long to arrive";
        case HttpProblem::overloaded:
            return "too many large requests at once; try again later";
        case HttpProblem::connections_too_many:
            return "too many connections; close idle ones or try again later";
    }
    return "the request could not be read";
}

std::string to_bytes(const HttpResponse& response, const Persistence& persistence,
                     bool body_omitted) {
    const bool bodiless = response.status == 204 || response.status == 304;

    http::response<http::empty_body> head;
    head.result(static_cast<unsigned>(response.status));
    set_reason(head);
    if (!bodiless) {
        if (!response.content_type.empty()) {
            head.insert(http::field::content_type, one_line(response.content_type));
        }
        head.insert(http::field::content_length, std::to_string(response.body.size()));
    }
    for (const auto& [name, value] : response.headers) head.insert(name, one_line(value));
    if (persistence.keep_alive) {
        head.insert(http::field::connection, "keep-alive");
        head.insert(http::field::keep_alive,
                    "timeout=" + std::to_string(persistence.idle_timeout.count()));
    } else {
        head.insert(http::field::connection, "close");
    }

    std::string bytes;
    bytes.reserve(256 + response.headers.size() * 64 + response.body.size());
    http::response_serializer<http::empty_body> serializer(head);
    boost::beast::error_code error;
    while (!serializer.is_done() && !error) {
        serializer.next(error, [&](boost::beast::error_code&, const auto& buffers) {
            for (const boost::asio::const_buffer part : boost::beast::buffers_range_ref(buffers)) {
                bytes.append(static_cast<const char*>(part.data()), part.size());
            }
            serializer.consume(boost::beast::buffer_bytes(buffers));
        });
    }
    if (!bodiless && !body_omitted) bytes.append(response.body);
    return bytes;
}

}  // namespace net
