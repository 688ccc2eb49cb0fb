#pragma once

#include <chrono>
#include <optional>
#include <variant>

#include "api/api_error.hpp"
#include "net/http_message.hpp"

namespace api {

// How long a poll wants to wait for the end of its job: the query `wait=20s` (the `s` may be
// missing), or else the header `Prefer: wait=20` (RFC 7240). Whole seconds, no more than
// `longest`. Nothing: answer at once. A preference that can not be read is ignored, as the RFC
// asks; a query that can not be read is refused.
using Wait = std::variant<std::optional<std::chrono::seconds>, ApiError>;

[[nodiscard]] Wait read_wait(const net::HttpRequest& request, std::chrono::seconds longest);

}  // namespace api
