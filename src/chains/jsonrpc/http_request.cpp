#include "chains/jsonrpc/http_request.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace chains::jsonrpc {
namespace {

constexpr std::array<std::string_view, 5> own_fields{"Accept-Encoding", "Connection",
                                                     "Content-Length", "Host", "Transfer-Encoding"};

bool equal_ignoring_case(std::string_view left, std::string_view right) {
    return std::ranges::equal(left, right, [](unsigned char a, unsigned char b) {
        return std::tolower(a) == std::tolower(b);
    });
}

bool is_token(std::string_view name) {
    constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
    return !name.empty() && std::ranges::all_of(name, [&](unsigned char c) {
        return c < 0x80 && (std::isalnum(c) != 0 || marks.find(static_cast<char>(c)) != marks.npos);
    });
}

bool is_control(unsigned char c) {
    return c < 0x20 || c == 0x7f;
}

bool is_sendable(const HttpRequest& request) {
    const auto ends_target = [](unsigned char c) { return is_control(c) || c == ' '; };
    if (std::ranges::any_of(request.target, ends_target)) return false;
    return std::ranges::all_of(request.headers, [](const auto& header) {
        const auto& [name, value] = header;
        const auto is_name = [&name](std::string_view own) {
            return equal_ignoring_case(name, own);
        };
        return is_token(name) && std::ranges::none_of(value, is_control) &&
               std::ranges::none_of(own_fields, is_name);
    });
}

std::string joined(std::string_view base, std::string_view target) {
    if (target.empty()) return std::string(base);
    const std::size_t query = std::min(base.find('?'), base.size());
    std::string path(base.substr(0, query));
    while (path.ends_with('/')) path.pop_back();
    path.append(target);
    if (query + 1 < base.size()) {
        path.append(target.find('?') == std::string_view::npos ? "?" : "&")
            .append(base.substr(query + 1));
    }
    return path;
}

}  // namespace

std::optional<std::string> write_http(const HttpRequest& request, const Url& url) {
    if (!is_sendable(request)) return std::nullopt;
    std::string text;
    text.reserve(request.body.size() + 512);
    const auto write = [&text](std::string_view name, std::string_view value) {
        text.append(name).append(": ").append(value).append("\r\n");
    };
    const auto write_unless_given = [&](std::string_view name, std::string_view value) {
        const bool given = std::ranges::any_of(request.headers, [name](const auto& header) {
            return equal_ignoring_case(header.first, name);
        });
        if (!given && !value.empty()) write(name, value);
    };
    const bool has_body = request.method != "GET";

    text.append(request.method).append(" ").append(joined(url.target, request.target));
    text.append(" HTTP/1.1\r\n");
    write("Host", url.authority());
    write_unless_given("Authorization", url.authorization());
    write_unless_given("User-Agent", "posthouse");
    if (has_body) write_unless_given("Content-Type", "application/json");
    write_unless_given("Accept", "application/json");
    write("Accept-Encoding", "identity");
    for (const auto& [name, value] : request.headers) write(name, value);
    if (has_body) write("Content-Length", std::to_string(request.body.size()));
    text.append("\r\n");
    if (has_body) text.append(request.body);
    return text;
}

}  // namespace chains::jsonrpc
