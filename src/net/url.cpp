#include "net/url.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <utility>

#include "base/base64.hpp"
#include "base/text.hpp"

namespace net {
namespace {

struct Scheme {
    std::string_view name;
    bool websocket;
    bool tls;
};

constexpr std::array schemes{
    Scheme{"http", false, false},
    Scheme{"https", false, true},
    Scheme{"ws", true, false},
    Scheme{"wss", true, true},
};

constexpr std::string_view separator = "://";
constexpr std::size_t secret_bytes_min = 5;
constexpr std::size_t password_bytes_min = 3;

const Scheme* scheme_of(std::string_view text) {
    const std::string name = base::lower_case(text.substr(0, text.find(separator)));
    const auto found = std::ranges::find(schemes, name, &Scheme::name);
    return found == schemes.end() || name.size() == text.size() ? nullptr : &*found;
}

std::optional<std::string> without_escapes(std::string_view text) {
    std::string plain;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '%') {
            plain += text[at];
            continue;
        }
        const std::string_view digits = text.substr(at + 1, 2);
        const auto byte = base::number_in<unsigned char>(digits, 16);
        if (!byte || digits.size() != 2) return std::nullopt;
        plain += static_cast<char>(*byte);
        at += 2;
    }
    return plain;
}

// `host`, `host:port` or the same with an IPv6 address in brackets.
bool read_place(std::string_view place, Url& url) {
    std::size_t host_end = place.find(':');
    if (place.starts_with('[')) {
        const std::size_t bracket = place.find(']');
        if (bracket == std::string_view::npos) return false;
        url.host = place.substr(1, bracket - 1);
        host_end = bracket + 1;
    } else {
        url.host = place.substr(0, host_end);
    }
    if (url.host.empty()) return false;
    if (host_end >= place.size()) return true;
    if (place[host_end] != ':') return false;
    if (host_end + 1 == place.size()) return true;  // `host:` means the scheme's own
    url.port = base::number_in<std::uint16_t>(place.substr(host_end + 1)).value_or(0);
    return url.port != 0;
}

void add_parts(std::string_view text, std::string_view separators,
               std::vector<std::string>& parts) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find_first_of(separators), text.size());
        if (end >= secret_bytes_min) parts.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

std::string in_brackets(const std::string& host) {
    const bool is_ipv6 = host.find(':') != std::string::npos;
    return is_ipv6 ? "[" + host + "]" : host;
}

}  // namespace

std::string Url::authority() const {
    return port == (tls ? 443 : 80) ? in_brackets(host) : host_and_port();
}

std::string Url::host_and_port() const {
    return in_brackets(host) + ":" + std::to_string(port);
}

std::string Url::authorization() const {
    if (credentials.empty()) return {};
    return "Basic " + base::to_base64(credentials);
}

std::vector<std::string> Url::secrets() const {
    std::vector<std::string> parts;
    add_parts(target, "/?&=#", parts);
    for (std::size_t part = 0, sent = parts.size(); part < sent; ++part) {
        const auto plain = without_escapes(parts[part]);
        if (plain && *plain != parts[part]) add_parts(*plain, "", parts);
    }
    add_parts(host, "", parts);
    const std::size_t colon = std::min(credentials.find(':'), credentials.size());
    for (const std::string& part : {credentials.substr(0, colon),
                                    credentials.substr(std::min(colon + 1, credentials.size()))}) {
        if (part.size() >= password_bytes_min) parts.push_back(part);
    }
    // Without what fills it up, which not everybody writes.
    const std::string sent = base::to_base64(credentials);
    const std::string_view digits = std::string_view(sent).substr(0, sent.find('='));
    if (digits.size() >= password_bytes_min) parts.emplace_back(digits);
    std::ranges::sort(parts, std::ranges::greater{}, &std::string::size);
    return parts;
}

std::vector<std::string> with_token(std::vector<std::string> secrets, const std::string& token) {
    if (token.empty()) return secrets;
    const auto at =
        std::ranges::lower_bound(secrets, token.size(), std::ranges::greater{}, &std::string::size);
    secrets.insert(at, token);
    return secrets;
}

std::optional<Url> parse_url(std::string_view text) {
    const Scheme* const scheme = scheme_of(text);
    if (scheme == nullptr || !std::ranges::all_of(text, base::is_visible)) return std::nullopt;
    Url url;
    url.websocket = scheme->websocket;
    url.tls = scheme->tls;
    text.remove_prefix(scheme->name.size() + separator.size());
    text = text.substr(0, text.find('#'));

    const std::size_t target = std::min(text.find_first_of("/?"), text.size());
    std::string_view place = text.substr(0, target);
    url.target = text.substr(target);
    if (!url.target.starts_with('/')) url.target.insert(0, 1, '/');

    if (const std::size_t at = place.rfind('@'); at != std::string_view::npos) {
        const auto credentials = without_escapes(place.substr(0, at));
        if (!credentials) return std::nullopt;
        url.credentials = *credentials;
        place.remove_prefix(at + 1);
    }
    if (!read_place(place, url)) return std::nullopt;
    if (url.port == 0) url.port = scheme->tls ? 443 : 80;
    return url;
}

Url at_socket_file(std::string path) {
    Url url;
    url.host = "localhost";
    url.port = 80;
    url.target = "/";
    url.socket_file = std::move(path);
    return url;
}

std::string over_http(std::string_view url) {
    const Scheme* const scheme = scheme_of(url);
    if (scheme == nullptr || !scheme->websocket) return std::string(url);
    return std::string(scheme->tls ? "https" : "http").append(url.substr(scheme->name.size()));
}

}  // namespace net
