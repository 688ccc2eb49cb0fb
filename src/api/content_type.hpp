#pragma once

#include <string_view>

#include "net/http_message.hpp"

namespace api {

// Whether Content-Type says application/json or application/…+json, with or without parameters.
[[nodiscard]] bool announces_json(const net::HttpRequest& head);

// The fix every refused content type is answered with (field report 65).
inline constexpr std::string_view content_type_hint = "send Content-Type: application/json";

}  // namespace api
