#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "domain/kind.hpp"

namespace api {

enum class Action {
    submit,
    poll,
    share,
    share_status,
    helper_status,
    queue_status,
    keyurl,
    liveness,
    healthz,
    version,
    docs,
    openapi,
    admin,
};

struct Route {
    std::string_view method;
    std::string_view path;  // what stands before the rest, where there is one
    Action action = Action::liveness;
    domain::Kind kind = domain::Kind::input_proof;  // of submit and poll
};

// A path with the method that fits, or with one that does not; HEAD counts as GET.
struct RouteMatch {
    const Route* route = nullptr;
    bool method_fits = false;
};

// Whether it is one of the vote shares'.
[[nodiscard]] bool is_share_action(Action action);

// The whole table.
[[nodiscard]] std::span<const Route> routes();

// Finds the route of a path. The table has few rows: looking through it costs less than a hash.
[[nodiscard]] std::optional<RouteMatch> find_route(std::string_view method, std::string_view path);

// Of polls the job id, never empty; of share_status round id, slash, nullifier. As sent.
[[nodiscard]] std::string_view rest_of(std::string_view path, const Route& route);

// Of the share helper, whether there is such a route or not.
[[nodiscard]] bool is_share_path(std::string_view path);

// One `name=value` of a query or a form, both still encoded.
struct QueryPart {
    std::string_view name;
    std::string_view value;
};
// Takes the first one off; empty parts are passed over. Nothing: there is none left.
[[nodiscard]] std::optional<QueryPart> take_query_part(std::string_view& query);

// Replaces %XX by its byte; leaves what is no such triple alone.
[[nodiscard]] std::string percent_decoded(std::string_view text);

}  // namespace api
