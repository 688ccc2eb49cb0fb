#pragma once

#include "net/http_message.hpp"

namespace api::docs {

// GET /docs: the interface as one page for people. Loads nothing from anywhere and runs no script.
[[nodiscard]] net::HttpResponse docs_answer();

// GET /docs/openapi.json: the same for programs, OpenAPI 3.1.
[[nodiscard]] net::HttpResponse openapi_answer();

}  // namespace api::docs
