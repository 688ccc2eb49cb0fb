#pragma once

#include <optional>
#include <string_view>

#include "domain/time.hpp"

namespace chains::jsonrpc {

// How long a node that throttles us is left alone: its Retry-After, seconds or a date (RFC 9110,
// 10.2.3), else 1 s. From 1 s to 10 min.
[[nodiscard]] domain::Milliseconds throttle_wait(std::optional<std::string_view> retry_after,
                                                 domain::Timestamp now);

}  // namespace chains::jsonrpc
