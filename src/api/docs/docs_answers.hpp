#pragma once

#include "api/http/http_message.hpp"

namespace api {

// GET /docs: the interface as one page for people. Loads nothing from anywhere and runs no script.
[[nodiscard]] HttpResponse docs_answer();

// GET /docs/openapi.json: the same for programs, OpenAPI 3.1.
[[nodiscard]] HttpResponse openapi_answer();

}  // namespace api
