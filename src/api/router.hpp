#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "domain/kind.hpp"

namespace api {

enum class Action { submit, poll, share, liveness, healthz, version, admin };

struct Route {
    std::string_view method;
    std::string_view path;  // of polls: what stands before the job id
    Action action = Action::liveness;
    domain::Kind kind = domain::Kind::input_proof;  // of submit and poll
};

// A path with the method that fits, or with one that does not; HEAD counts as GET.
struct RouteMatch {
    const Route* route = nullptr;
    bool method_fits = false;
    std::string_view job_id;  // of polls, as sent
};

// Finds the route of a path. The table has a dozen rows: looking through it costs less than a hash.
[[nodiscard]] std::optional<RouteMatch> find_route(std::string_view method, std::string_view path);

// Replaces %XX by its byte; leaves what is no such triple alone.
[[nodiscard]] std::string percent_decoded(std::string_view text);

}  // namespace api
