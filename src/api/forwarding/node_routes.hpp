#pragma once

#include <optional>
#include <string_view>

#include "api/router.hpp"
#include "net/http_message.hpp"

namespace api::forwarding {

// `liveness`, `healthz` or `version`: what a node answers of itself, whoever owns the book.
// Nothing: it is for the owner, also with a method that does not fit.
[[nodiscard]] std::optional<Action> action_of_node(const net::HttpRequest& head);

// 503 with `Retry-After: 1` in the shape that the route's errors have: it can not be decided here
// and now. Never 404: the job may exist.
[[nodiscard]] net::HttpResponse undecided_answer(const net::HttpRequest& head,
                                                 std::string_view call_id);

}  // namespace api::forwarding
