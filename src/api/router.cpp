#include "api/router.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>

#include "domain/bytes.hpp"

namespace api {

namespace {

using domain::Kind;

// relayer-api 1.1, share-helper 1
constexpr std::array table{
    Route{"POST", "/shielded-vote/v1/shares", Action::share},
    Route{"GET", "/shielded-vote/v1/share-status/", Action::share_status},
    Route{"GET", "/shielded-vote/v1/status", Action::helper_status},
    Route{"GET", "/shielded-vote/v1/queue-status", Action::queue_status},
    Route{"POST", "/v2/input-proof", Action::submit, Kind::input_proof},
    Route{"GET", "/v2/input-proof/", Action::poll, Kind::input_proof},
    Route{"POST", "/v2/public-decrypt", Action::submit, Kind::public_decrypt},
    Route{"GET", "/v2/public-decrypt/", Action::poll, Kind::public_decrypt},
    Route{"POST", "/v2/user-decrypt", Action::submit, Kind::user_decrypt},
    Route{"GET", "/v2/user-decrypt/", Action::poll, Kind::user_decrypt},
    Route{"POST", "/v2/delegated-user-decrypt", Action::submit, Kind::delegated_user_decrypt},
    Route{"GET", "/v2/delegated-user-decrypt/", Action::poll, Kind::delegated_user_decrypt},
    Route{"POST", "/v3/user-decrypt", Action::submit, Kind::unified_user_decrypt},
    Route{"GET", "/v3/user-decrypt/", Action::poll, Kind::unified_user_decrypt},
    Route{"GET", "/v2/keyurl", Action::keyurl},
    Route{"GET", "/liveness", Action::liveness},
    Route{"GET", "/healthz", Action::healthz},
    Route{"GET", "/version", Action::version},
    Route{"GET", "/docs", Action::docs},
    Route{"GET", "/docs/openapi.json", Action::openapi},
    Route{"GET", "/admin/config", Action::admin},
    Route{"POST", "/admin/config", Action::admin},
};

bool is_one_part(std::string_view text) {
    return !text.empty() && text.find('/') == std::string_view::npos;
}

bool covers(const Route& route, std::string_view path) {
    if (!path.starts_with(route.path)) return false;
    const std::string_view rest = rest_of(path, route);
    if (route.action == Action::poll) return is_one_part(rest);
    if (route.action != Action::share_status) return rest.empty();
    // Two parts; empty ones are refused as what they are (share-helper 1.5).
    return std::count(rest.begin(), rest.end(), '/') == 1;
}

}  // namespace

std::span<const Route> routes() {
    return table;
}

std::optional<RouteMatch> find_route(std::string_view method, std::string_view path) {
    std::optional<RouteMatch> match;
    for (const Route& route : table) {
        if (!covers(route, path)) continue;
        const bool fits = method == route.method || (method == "HEAD" && route.method == "GET");
        match = RouteMatch{&route, fits};
        if (fits) break;
    }
    return match;
}

std::string_view rest_of(std::string_view path, const Route& route) {
    assert(path.starts_with(route.path));
    return path.substr(route.path.size());
}

bool is_share_action(Action action) {
    return action == Action::share || action == Action::share_status ||
           action == Action::helper_status || action == Action::queue_status;
}

bool is_share_path(std::string_view path) {
    return path.starts_with("/shielded-vote/");
}

std::optional<QueryPart> take_query_part(std::string_view& query) {
    while (!query.empty()) {
        const std::size_t end = std::min(query.find('&'), query.size());
        const std::string_view part = query.substr(0, end);
        query.remove_prefix(std::min(end + 1, query.size()));
        if (part.empty()) continue;
        const std::size_t equals = std::min(part.find('='), part.size());
        return QueryPart{part.substr(0, equals), part.substr(std::min(equals + 1, part.size()))};
    }
    return std::nullopt;
}

std::string percent_decoded(std::string_view text) {
    std::string decoded;
    decoded.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        std::array<std::uint8_t, 1> byte{};
        if (text[i] == '%' && text.size() - i > 2 &&
            domain::from_hex(text.substr(i + 1, 2), byte)) {
            decoded.push_back(static_cast<char>(byte[0]));
            i += 2;
        } else {
            decoded.push_back(text[i]);
        }
    }
    return decoded;
}

}  // namespace api
