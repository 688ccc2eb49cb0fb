#include "api/forwarding/passed_on.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "api/forwarding/forwarded_header.hpp"
#include "base/text.hpp"
#include "domain/bytes.hpp"

namespace api::forwarding {

namespace {

using net::equal_ignoring_case;

constexpr std::array<std::string_view, 9> hop_fields{"Connection",
                                                     "Keep-Alive",
                                                     "Proxy-Authenticate",
                                                     "Proxy-Authorization",
                                                     "Proxy-Connection",
                                                     "TE",
                                                     "Trailer",
                                                     "Transfer-Encoding",
                                                     "Upgrade"};
// The server has answered Expect; the client has the others of its own.
constexpr std::array<std::string_view, 4> connection_fields{"Accept-Encoding", "Content-Length",
                                                            "Expect", "Host"};
constexpr std::array<std::string_view, 2> node_fields{forwarded_field, not_owner_field};

bool is_among(auto const& names, std::string_view name) {
    return std::ranges::any_of(
        names, [&](std::string_view one) { return equal_ignoring_case(one, name); });
}

std::string_view without_blanks(std::string_view text) {
    const auto begin = std::min(text.find_first_not_of(" \t"), text.size());
    text.remove_prefix(begin);
    return text.substr(0, text.find_last_not_of(" \t") + 1);
}

// Calls `visit` with each element of a list such as `close, X-Mine`.
void for_each_element(std::string_view list, const auto& visit) {
    while (!list.empty()) {
        const std::size_t end = std::min(list.find(','), list.size());
        visit(without_blanks(list.substr(0, end)));
        list.remove_prefix(std::min(end + 1, list.size()));
    }
}

// Fields for one hop only: the known ones, and those that Connection names.
class HopFields {
public:
    explicit HopFields(const auto& fields) {
        for (const auto& [name, value] : fields) {
            if (!equal_ignoring_case(name, "Connection")) continue;
            for_each_element(value, [&](std::string_view one) { named_.emplace_back(one); });
        }
    }
    [[nodiscard]] bool has(std::string_view name) const {
        return is_among(hop_fields, name) || is_among(named_, name);
    }

private:
    std::vector<std::string> named_;
};

// A name in Via is a token, and must not be that of a stranger's proxy by chance.
std::string name_in_via(std::string_view node) {
    const domain::ByteView bytes{reinterpret_cast<const std::uint8_t*>(node.data()), node.size()};
    return "posthouse-" + domain::to_hex(bytes);
}

std::optional<std::size_t> as_length(std::string_view text) {
    std::size_t length = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), length);
    const bool is_whole = read.ec == std::errc{} && read.ptr == text.data() + text.size();
    return is_whole ? std::optional(length) : std::nullopt;
}

}  // namespace

Fields fields_to_owner(const net::HttpRequest& request, std::string_view node) {
    const HopFields hops(request.headers);
    Fields fields;
    fields.reserve(request.headers.size() + 2);
    for (const auto& [name, value] : request.headers) {
        if (hops.has(name) || is_among(connection_fields, name) || is_among(node_fields, name)) {
            continue;
        }
        fields.emplace_back(name, value);
    }
    fields.emplace_back("Via", "1.1 " + name_in_via(node));
    return fields;
}

bool was_passed_on_by(std::string_view node, const net::HttpRequest& request) {
    const std::string name = name_in_via(node);
    bool found = false;
    for (const net::HttpHeader& header : request.headers) {
        if (!equal_ignoring_case(header.name, "Via")) continue;
        for_each_element(header.value, [&](std::string_view one) {
            found =
                found || without_blanks(one.substr(std::min(one.find(' '), one.size()))) == name;
        });
    }
    return found;
}

net::HttpResponse answer_of_owner(net::ClientResponse response, bool to_head) {
    const HopFields hops(response.headers);
    net::HttpResponse answer{.status = response.status,
                             .headers = {},
                             .body = std::move(response.body),
                             .content_type = {}};
    for (auto& [name, value] : response.headers) {
        if (hops.has(name) || is_among(node_fields, name)) continue;
        if (equal_ignoring_case(name, "Date")) continue;  // each server says its own
        if (equal_ignoring_case(name, "Content-Length")) {
            if (to_head) answer.omitted_bytes = as_length(value);
        } else if (equal_ignoring_case(name, "Content-Type")) {
            answer.content_type = std::move(value);
        } else {
            answer.headers.emplace_back(std::move(name), std::move(value));
        }
    }
    return answer;
}

bool is_not_owner(const net::ClientResponse& response) {
    return response.status == 503 && std::ranges::any_of(response.headers, [](const auto& field) {
               return equal_ignoring_case(field.first, not_owner_field);
           });
}

}  // namespace api::forwarding
