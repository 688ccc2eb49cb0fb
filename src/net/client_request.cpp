#include "net/client_request.hpp"

#include <algorithm>
#include <array>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/field.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <boost/beast/http/verb.hpp>

#include "base/text.hpp"

namespace net {
namespace {

namespace http = boost::beast::http;

constexpr std::array own_fields{http::field::accept_encoding,     http::field::connection,
                                http::field::content_length,      http::field::host,
                                http::field::proxy_authorization, http::field::transfer_encoding};

using base::is_control;

bool is_token(std::string_view name) {
    constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
    return !name.empty() && std::ranges::all_of(name, [&](char c) {
        return base::is_letter(c) || base::is_digit(c) || marks.find(c) != marks.npos;
    });
}

bool is_sendable(const ClientRequest& request) {
    const auto ends_target = [](char c) { return is_control(c) || c == ' '; };
    const auto ends_value = [](char c) { return is_control(c) && c != '\t'; };
    if (std::ranges::any_of(request.target, ends_target)) return false;
    return std::ranges::all_of(request.headers, [&](const auto& header) {
        const auto& [name, value] = header;
        return is_token(name) && std::ranges::none_of(value, ends_value) &&
               std::ranges::find(own_fields, http::string_to_field(name)) == own_fields.end();
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

std::optional<RequestMessage> message_of(const ClientRequest& request, const Route& route) {
    if (!is_sendable(request)) return std::nullopt;
    const Url& url = route.target;
    // A proxy that does more than passing bytes on has to be told where (RFC 9112, 3.2.2).
    const bool through_proxy = route.proxy != nullptr && !route.has_tunnel();
    const std::string place = through_proxy ? "http://" + url.authority() : std::string();

    RequestMessage message;
    message.version(11);
    message.method_string(request.method);
    message.target(place + joined(url.target, request.target));
    const auto set_unless_given = [&](http::field field, std::string_view value) {
        const bool given = std::ranges::any_of(request.headers, [field](const auto& header) {
            return http::string_to_field(header.first) == field;
        });
        if (!given && !value.empty() && !request.passed_on) message.set(field, value);
    };
    const bool has_body = request.method != "GET" && request.method != "HEAD";

    message.set(http::field::host, url.authority());
    if (through_proxy && !route.proxy->credentials.empty()) {
        message.set(http::field::proxy_authorization, route.proxy->authorization());
    }
    set_unless_given(http::field::authorization, url.authorization());
    set_unless_given(http::field::user_agent, "posthouse");
    if (has_body) set_unless_given(http::field::content_type, "application/json");
    set_unless_given(http::field::accept, "application/json");
    message.set(http::field::accept_encoding, "identity");
    for (const auto& [name, value] : request.headers) message.insert(name, value);
    if (has_body) {
        message.body() = {request.body.data(), request.body.size()};
        message.content_length(request.body.size());
    }
    return message;
}

}  // namespace net
