#pragma once

#include <string_view>

#include "net/http_message.hpp"

namespace api {

// What the Content-Type header announces, as far as our routes care.
enum class ContentKind {
    json,  // application/json or application/…+json, with or without parameters
    form,  // what browsers and `curl -d` send: never meant as JSON
    other,
    none,  // no such header
};

[[nodiscard]] ContentKind content_kind_of(const net::HttpRequest& head);

// The fix every refused content type is answered with (field report 65).
inline constexpr std::string_view content_type_hint = "send Content-Type: application/json";

}  // namespace api
