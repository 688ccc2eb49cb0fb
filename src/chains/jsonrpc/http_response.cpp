#include "chains/jsonrpc/http_response.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

namespace chains::jsonrpc {
namespace {

constexpr std::size_t head_bytes_max = 64U << 10U;
constexpr std::size_t read_space = 16U << 10U;

bool equal_ignoring_case(std::string_view left, std::string_view right) {
    return std::ranges::equal(left, right, [](unsigned char a, unsigned char b) {
        return std::tolower(a) == std::tolower(b);
    });
}

std::string_view trimmed(std::string_view text) {
    const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
}

bool lists(std::string_view value, std::string_view token) {
    while (!value.empty()) {
        const std::size_t end = std::min(value.find(','), value.size());
        if (equal_ignoring_case(trimmed(value.substr(0, end)), token)) return true;
        value.remove_prefix(std::min(end + 1, value.size()));
    }
    return false;
}

std::optional<std::size_t> number(std::string_view digits, int base) {
    std::size_t value = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
    return value;
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

}  // namespace

HttpResponseReader::HttpResponseReader(Connection& connection, Deadline deadline,
                                       const Signal& stop, std::size_t body_bytes_max)
    : connection_(connection), deadline_(deadline), stop_(stop), body_bytes_max_(body_bytes_max) {}

std::variant<HttpResponse, HttpFault> HttpResponseReader::read() {
    do {
        response_ = {};
        framing_ = {};
        if (!read_head()) return fault_;
    } while (response_.status < 200);  // interim responses announce the real one
    if (!read_body()) return fault_;
    response_.keeps_alive = !framing_.closes && !ended_ && buffer_.empty();
    return std::move(response_);
}

std::variant<HttpUpgrade, HttpFault> HttpResponseReader::read_upgrade() {
    if (!read_head()) return fault_;
    upgrade_.status = response_.status;
    upgrade_.retry_after = std::move(response_.retry_after);
    upgrade_.rest = std::move(buffer_);
    return std::move(upgrade_);
}

bool HttpResponseReader::fail(HttpFault fault) {
    fault_ = fault;
    return false;
}

// More into the buffer, or the end of the stream noted.
bool HttpResponseReader::fill() {
    if (ended_) return fail(HttpFault::broken);
    std::array<char, read_space> space;
    const Connection::Received received = connection_.read(space, deadline_, stop_);
    switch (received.end) {
        case Connection::End::none:
            heard_ = true;
            buffer_.append(space.data(), received.bytes);
            return true;
        case Connection::End::timed_out:
            return fail(HttpFault::timed_out);
        case Connection::End::stopped:
            return fail(HttpFault::stopped);
        case Connection::End::broken:
            return fail(heard_ ? HttpFault::broken : HttpFault::silent_end);
        case Connection::End::closed:
            break;
    }
    ended_ = true;
    return heard_ || fail(HttpFault::silent_end);
}

bool HttpResponseReader::read_line(std::string& line) {
    std::size_t end = 0;
    while ((end = buffer_.find('\n')) == std::string::npos) {
        if (buffer_.size() > head_bytes_max) return fail(HttpFault::too_large);
        if (!fill()) return false;
    }
    line.assign(buffer_, 0, end);
    buffer_.erase(0, end + 1);
    if (line.ends_with('\r')) line.pop_back();
    return true;
}

bool HttpResponseReader::read_head() {
    if (!read_status_line()) return false;
    std::string line;
    for (;;) {
        if (!read_line(line)) return false;
        if (line.empty()) return true;
        head_bytes_ += line.size();
        if (head_bytes_ > head_bytes_max) return fail(HttpFault::too_large);
        if (!read_field(line)) return false;
    }
}

// `HTTP/1.1 200 OK`
bool HttpResponseReader::read_status_line() {
    std::string line;
    if (!read_line(line)) return false;
    head_bytes_ += line.size();
    if (head_bytes_ > head_bytes_max) return fail(HttpFault::too_large);
    const bool well_formed = line.starts_with("HTTP/1.") && line.size() >= 12 &&
                             is_digit(line[7]) && line[8] == ' ' && line[9] >= '1' &&
                             is_digit(line[9]) && is_digit(line[10]) && is_digit(line[11]) &&
                             (line.size() == 12 || line[12] == ' ');
    if (!well_formed) return fail(HttpFault::malformed);
    response_.status = (line[9] - '0') * 100 + (line[10] - '0') * 10 + (line[11] - '0');
    framing_.closes = line[7] == '0';
    return true;
}

bool HttpResponseReader::read_field(std::string_view line) {
    const std::size_t colon = line.find(':');
    if (colon == 0 || colon == std::string_view::npos) return fail(HttpFault::malformed);
    const std::string_view name = line.substr(0, colon);
    const std::string_view value = trimmed(line.substr(colon + 1));
    if (name.find_first_of(" \t") != std::string_view::npos) return fail(HttpFault::malformed);
    if (equal_ignoring_case(name, "content-length")) return read_length(value);
    if (equal_ignoring_case(name, "transfer-encoding")) {
        framing_.chunked = equal_ignoring_case(value, "chunked");
        return framing_.chunked || fail(HttpFault::malformed);
    }
    if (equal_ignoring_case(name, "connection")) {
        if (lists(value, "close")) framing_.closes = true;
        if (lists(value, "keep-alive")) framing_.closes = false;
    }
    if (equal_ignoring_case(name, "retry-after")) response_.retry_after = value;
    if (equal_ignoring_case(name, "upgrade")) upgrade_.to_websocket = lists(value, "websocket");
    if (equal_ignoring_case(name, "sec-websocket-accept")) upgrade_.websocket_accept = value;
    return true;
}

bool HttpResponseReader::read_length(std::string_view value) {
    const auto length = number(value, 10);
    if (!length || (framing_.length && framing_.length != length)) {
        return fail(HttpFault::malformed);
    }
    framing_.length = length;
    return true;
}

bool HttpResponseReader::read_body() {
    if (response_.status == 204 || response_.status == 304) return true;
    if (framing_.chunked) {
        // Both at once smell of two readers that disagree (RFC 9112, 6.3).
        if (framing_.length) framing_.closes = true;
        return read_chunks();
    }
    if (framing_.length) return read_bytes(*framing_.length);
    framing_.closes = true;
    return read_until_end();
}

bool HttpResponseReader::read_bytes(std::size_t count) {
    if (count > body_bytes_max_ - response_.body.size()) return fail(HttpFault::too_large);
    for (;;) {
        const std::size_t taken = std::min(count, buffer_.size());
        response_.body.append(buffer_, 0, taken);
        buffer_.erase(0, taken);
        count -= taken;
        if (count == 0) return true;
        if (!fill()) return false;
    }
}

bool HttpResponseReader::read_chunks() {
    std::string line;
    for (;;) {
        if (!read_line(line)) return false;
        const auto size = number(trimmed(std::string_view(line).substr(0, line.find(';'))), 16);
        if (!size) return fail(HttpFault::malformed);
        if (*size == 0) break;
        if (!read_bytes(*size) || !read_line(line)) return false;
        if (!line.empty()) return fail(HttpFault::malformed);
    }
    do {  // trailers
        if (!read_line(line)) return false;
        head_bytes_ += line.size();
        if (head_bytes_ > head_bytes_max) return fail(HttpFault::too_large);
    } while (!line.empty());
    return true;
}

bool HttpResponseReader::read_until_end() {
    for (;;) {
        if (buffer_.size() > body_bytes_max_ - response_.body.size()) {
            return fail(HttpFault::too_large);
        }
        response_.body.append(buffer_);
        buffer_.clear();
        if (ended_) return true;
        if (!fill()) return false;
    }
}

}  // namespace chains::jsonrpc
