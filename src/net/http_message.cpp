#include "net/http_message.hpp"

#include <algorithm>
#include <array>
#include <boost/beast/http/status.hpp>
#include <cstdio>

#include "base/text.hpp"

namespace net {

namespace {

namespace http = boost::beast::http;

struct ProblemRow {
    HttpProblem problem;
    int status;
    std::string_view text;
};

constexpr std::array problem_rows{
    ProblemRow{HttpProblem::malformed_head, 400,
               "the request line or a header is malformed; send HTTP/1.1 with one Host header, one "
               "Content-Length and CRLF line ends"},
    ProblemRow{HttpProblem::head_too_large, 431,
               "the request line and headers are too large; send fewer or shorter headers"},
    ProblemRow{HttpProblem::headers_too_many, 431, "too many headers; send fewer"},
    ProblemRow{HttpProblem::version_unsupported, 505,
               "this HTTP version is not supported; send HTTP/1.1"},
    ProblemRow{HttpProblem::expectation_unsupported, 417,
               "this Expect header is not supported; send 100-continue or none"},
    ProblemRow{
        HttpProblem::transfer_encoding, 411,
        "this Transfer-Encoding is not supported; send the body chunked or with a Content-Length"},
    ProblemRow{HttpProblem::content_encoding, 415,
               "Content-Encoding is not supported; send the body uncompressed"},
    ProblemRow{HttpProblem::body_too_large, 413, "the body is too large"},
    ProblemRow{HttpProblem::malformed_body, 400,
               "the chunks of the body are malformed; send it as RFC 9112, section 7.1, says, or "
               "with a Content-Length"},
    ProblemRow{HttpProblem::truncated, 400, "the connection ended before the whole request came"},
    ProblemRow{HttpProblem::deadline, 408, "the request took too long to arrive"},
    ProblemRow{HttpProblem::overloaded, 503, "too many large requests at once; try again later"},
    ProblemRow{HttpProblem::connections_too_many, 503,
               "too many connections; close idle ones or try again later"},
};

static_assert(problem_rows.size() ==
              static_cast<std::size_t>(HttpProblem::connections_too_many) + 1);

const ProblemRow& row_of(HttpProblem problem) {
    return *std::ranges::find(problem_rows, problem, &ProblemRow::problem);
}

std::string_view reason_of(int status) {
    // Where Beast has an older name than RFC 9110.
    if (status == 413) return "Content Too Large";
    if (status == 422) return "Unprocessable Content";
    const auto reason = http::obsolete_reason(http::int_to_status(static_cast<unsigned>(status)));
    return {reason.data(), reason.size()};
}

void append_header(std::string& bytes, std::string_view name, std::string_view value) {
    bytes.append(name).append(": ");
    const std::size_t start = bytes.size();
    bytes.append(value);
    // A line break in a value would let its author write headers of his own.
    std::replace_if(
        bytes.begin() + static_cast<std::ptrdiff_t>(start), bytes.end(),
        [](char character) { return character == '\r' || character == '\n' || character == '\0'; },
        ' ');
    bytes.append("\r\n");
}

}  // namespace

bool equal_ignoring_case(std::string_view left, std::string_view right) {
    return std::ranges::equal(
        left, right, [](char one, char other) { return base::lower(one) == base::lower(other); });
}

std::optional<std::string_view> HttpRequest::header(std::string_view name) const {
    const auto found = std::find_if(headers.begin(), headers.end(), [&](const HttpHeader& header) {
        return equal_ignoring_case(header.name, name);
    });
    if (found == headers.end()) return std::nullopt;
    return found->value;
}

int status_of(HttpProblem problem) {
    return row_of(problem).status;
}

std::string_view text_of(HttpProblem problem) {
    return row_of(problem).text;
}

// By hand: Beast's serializer goes through the fields one by one, in buffers of buffers, which
// takes longer than everything else about a small answer.
std::string to_bytes(const HttpResponse& response, const Persistence& persistence,
                     std::string_view date, bool body_omitted) {
    const bool bodiless = response.status == 204 || response.status == 304;

    std::string bytes;
    bytes.reserve(256 + response.headers.size() * 64 + response.body.size());
    bytes.append("HTTP/1.1 ").append(std::to_string(response.status)).append(" ");
    bytes.append(reason_of(response.status)).append("\r\n");
    if (!bodiless) {
        if (!response.content_type.empty()) {
            append_header(bytes, "Content-Type", response.content_type);
        }
        const std::size_t whole = response.body.size() + response.fixed_body.size();
        const std::size_t length = body_omitted ? response.omitted_bytes.value_or(whole) : whole;
        append_header(bytes, "Content-Length", std::to_string(length));
    }
    append_header(bytes, "Date", date);
    for (const auto& [name, value] : response.headers) append_header(bytes, name, value);
    if (persistence.keep_alive) {
        bytes.append("Connection: keep-alive\r\nKeep-Alive: timeout=");
        bytes.append(std::to_string(persistence.idle_timeout.count())).append("\r\n\r\n");
    } else {
        bytes.append("Connection: close\r\n\r\n");
    }
    if (!bodiless && !body_omitted) bytes.append(response.body);
    return bytes;
}

std::string http_date(std::chrono::sys_seconds time) {
    constexpr std::array weekdays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    constexpr std::array months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const auto day = std::chrono::floor<std::chrono::days>(time);
    const std::chrono::year_month_day date{day};
    const std::chrono::hh_mm_ss clock{time - day};
    std::array<char, 96> text{};
    std::snprintf(
        text.data(), text.size(), "%s, %02u %s %04d %02d:%02d:%02d GMT",
        weekdays.at(std::chrono::weekday{day}.c_encoding()), static_cast<unsigned>(date.day()),
        months.at(static_cast<unsigned>(date.month()) - 1), static_cast<int>(date.year()),
        static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
        static_cast<int>(clock.seconds().count()));
    return text.data();
}

// Made once a second: there may be tens of thousands of answers in it.
std::string_view http_date_now() {
    thread_local std::chrono::sys_seconds second{};
    thread_local std::string text;
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    if (text.empty() || now != second) {
        text = http_date(now);
        second = now;
    }
    return text;
}

}  // namespace net
