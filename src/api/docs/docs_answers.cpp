#include "api/docs/docs_answers.hpp"

#include "api/docs/docs_embedded.hpp"

namespace api::docs {

net::HttpResponse docs_answer() {
    net::HttpResponse response;
    response.content_type = "text/html; charset=utf-8";
    response.headers = {
        {"Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'"},
        {"X-Content-Type-Options", "nosniff"}};
    response.fixed_body = docs::page;
    return response;
}

net::HttpResponse openapi_answer() {
    net::HttpResponse response;
    response.headers = {{"X-Content-Type-Options", "nosniff"}};
    response.fixed_body = docs::document;
    return response;
}

}  // namespace api::docs
