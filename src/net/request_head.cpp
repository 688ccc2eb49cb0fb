#include "net/request_head.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

namespace net {

namespace {

constexpr std::string_view line_end = "\r\n";

constexpr std::array<bool, 256> token_characters = [] {
    std::array<bool, 256> allowed{};
    for (char character = '0'; character <= '9'; ++character) {
        allowed[static_cast<unsigned char>(character)] = true;
    }
    for (char character = 'a'; character <= 'z'; ++character) {
        allowed[static_cast<unsigned char>(character)] = true;
    }
    for (char character = 'A'; character <= 'Z'; ++character) {
        allowed[static_cast<unsigned char>(character)] = true;
    }
    for (const char character : std::string_view("!#$%&'*+-.^_`|~")) {
        allowed[static_cast<unsigned char>(character)] = true;
    }
    return allowed;
}();

bool is_token(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char character) {
        return token_characters[static_cast<unsigned char>(character)];
    });
}

bool is_control(char character) {
    const auto code = static_cast<unsigned char>(character);
    return code < 0x20 || code == 0x7f;
}

bool is_field_value(std::string_view text) {
    return std::none_of(text.begin(), text.end(),
                        [](char character) { return is_control(character) && character != '\t'; });
}

bool is_target(std::string_view text) {
    return !text.empty() && std::none_of(text.begin(), text.end(), [](char character) {
        return is_control(character) || character == ' ';
    });
}

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Cuts the next line off; without a line end, all that is left.
std::string_view take_line(std::string_view& rest) {
    const auto end = rest.find(line_end);
    const auto line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + line_end.size());
    return line;
}

// Calls `visit` with every element of a comma-separated list.
template <class Visitor>
void for_each_element(std::string_view list, Visitor visit) {
    while (!list.empty()) {
        const auto comma = list.find(',');
        visit(trimmed(list.substr(0, comma)));
        list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
    }
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

std::optional<HttpProblem> read_request_line(std::string_view line, RequestHead& head) {
    HttpRequest& request = head.request;
    const auto method_end = line.find(' ');
    if (method_end == std::string_view::npos) return HttpProblem::malformed_head;
    const auto method = line.substr(0, method_end);
    if (!is_token(method)) return HttpProblem::malformed_head;
    request.method = method;

    line.remove_prefix(method_end + 1);
    const auto target_end = line.find(' ');
    const auto target = line.substr(0, target_end);
    if (!is_target(target)) return HttpProblem::malformed_head;
    request.target = target;
    if (!split_target(request)) return HttpProblem::malformed_head;
    if (target_end == std::string_view::npos) return HttpProblem::malformed_head;

    const auto version = line.substr(target_end + 1);
    if (version == "HTTP/1.1") {
        head.keep_alive = true;
    } else if (version != "HTTP/1.0") {
        return version.starts_with("HTTP/") && is_field_value(version)
                   ? HttpProblem::version_unsupported
                   : HttpProblem::malformed_head;
    }
    return std::nullopt;
}

std::optional<HttpProblem> read_headers(std::string_view rest, std::size_t headers_max,
                                        HttpRequest& request) {
    for (auto line = take_line(rest); !line.empty(); line = take_line(rest)) {
        if (request.headers.size() == headers_max) return HttpProblem::headers_too_many;
        const auto colon = line.find(':');
        if (colon == std::string_view::npos) return HttpProblem::malformed_head;
        const HttpHeader header{line.substr(0, colon), trimmed(line.substr(colon + 1))};
        if (!is_token(header.name) || !is_field_value(header.value)) {
            return HttpProblem::malformed_head;
        }
        request.headers.push_back(header);
    }
    return std::nullopt;
}

// Bytes announced; more than fits into the type counts as the largest number there is.
std::optional<std::size_t> read_length(std::string_view text) {
    const bool digits = !text.empty() && std::all_of(text.begin(), text.end(), [](char character) {
        return character >= '0' && character <= '9';
    });
    if (!digits) return std::nullopt;
    std::size_t length = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), length);
    return result.ec == std::errc{} ? length : std::numeric_limits<std::size_t>::max();
}

// Looks at the headers that say how the request goes on and what becomes of the connection.
std::optional<HttpProblem> read_framing(const ReadingLimits& limits, RequestHead& head) {
    const bool is_1_1 = head.keep_alive;
    std::size_t hosts = 0;
    std::size_t lengths = 0;
    bool close = false;
    bool keep_alive = head.keep_alive;
    bool encoded = false;
    bool transfer_encoded = false;
    for (const auto& [name, value] : head.request.headers) {
        if (equal_ignoring_case(name, "host")) {
            ++hosts;
        } else if (equal_ignoring_case(name, "content-length")) {
            const auto length = read_length(value);
            if (!length || ++lengths > 1) return HttpProblem::malformed_head;
            head.body_bytes = *length;
        } else if (equal_ignoring_case(name, "transfer-encoding")) {
            transfer_encoded = true;
        } else if (equal_ignoring_case(name, "content-encoding")) {
            encoded = encoded || !(value.empty() || equal_ignoring_case(value, "identity"));
        } else if (equal_ignoring_case(name, "expect")) {
            if (!equal_ignoring_case(value, "100-continue")) {
                return HttpProblem::expectation_unsupported;
            }
            head.continue_expected = is_1_1;
        } else if (equal_ignoring_case(name, "connection")) {
            for_each_element(value, [&](std::string_view option) {
                close = close || equal_ignoring_case(option, "close");
                keep_alive = keep_alive || equal_ignoring_case(option, "keep-alive");
            });
        }
    }
    if (hosts > 1 || (hosts == 0 && is_1_1)) return HttpProblem::malformed_head;

    head.keep_alive = keep_alive && !close;
    if (transfer_encoded) {
        head.body_problem = HttpProblem::transfer_encoding;
    } else if (head.body_bytes > limits.body_bytes_max) {
        head.body_problem = HttpProblem::body_too_large;
    } else if (encoded) {
        head.body_problem = HttpProblem::content_encoding;
    }
    return std::nullopt;
}

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
        if (length == 0 || bytes[feed - 1] != '\r') {
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
    head.head_problem = read_request_line(take_line(bytes), head);
    if (head.head_problem) return;
    head.head_problem = read_headers(bytes, limits.headers_max, head.request);
    if (head.head_problem) return;
    head.head_problem = read_framing(limits, head);
}

}  // namespace net
