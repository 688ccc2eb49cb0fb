#pragma once

#include <array>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "api/harness.hpp"
#include "api/router.hpp"
#include "net/http_message.hpp"

// The OpenAPI document as it is served.
namespace openapi {

using Json = nlohmann::ordered_json;
using Names = std::set<std::string>;

inline const Json& document() {
    static const Json read = Json::parse(api_test::Harness().get("/docs/openapi.json").body);
    return read;
}

// All that can be wrong around a request.
inline constexpr std::array problems{net::HttpProblem::malformed_head,
                                     net::HttpProblem::head_too_large,
                                     net::HttpProblem::headers_too_many,
                                     net::HttpProblem::version_unsupported,
                                     net::HttpProblem::expectation_unsupported,
                                     net::HttpProblem::transfer_encoding,
                                     net::HttpProblem::content_encoding,
                                     net::HttpProblem::body_too_large,
                                     net::HttpProblem::truncated,
                                     net::HttpProblem::deadline,
                                     net::HttpProblem::overloaded,
                                     net::HttpProblem::connections_too_many};

// Follows references until there is none.
inline const Json& resolved(const Json& node) {
    const Json* found = &node;
    while (found->contains("$ref")) {
        const std::string reference = found->at("$ref");
        found = &document().at(Json::json_pointer(reference.substr(1)));
    }
    return *found;
}

inline const Json& schema_named(const std::string& name) {
    return document().at("components").at("schemas").at(name);
}

inline std::string joined(const Names& names) {
    std::string text;
    for (const std::string& name : names) text += name + ", ";
    return text;
}

inline std::string template_of(const api::Route& route) {
    std::string path(route.path);
    if (route.action == api::Action::poll) path += "{job_id}";
    if (route.action == api::Action::share_status) path += "{roundId}/{nullifier}";
    return path;
}

inline const Json& operation_of(const api::Route& route) {
    return document().at("paths").at(template_of(route)).at(route.method == "GET" ? "get" : "post");
}

}  // namespace openapi
