#include "api/api_error.hpp"

#include <cassert>
#include <utility>

namespace api {

ApiError malformed_json(std::string hint) {
    return {400, "malformed_json", "Invalid JSON format", {}, std::move(hint)};
}

ApiError missing_field(std::string_view field) {
    const std::string name(field);
    return {400,
            "missing_fields",
            "Missing 1 required field in the request: " + name,
            {{name, "Required but missing"}}};
}

ApiError wrong_field(std::string_view field, std::string_view issue) {
    return validation_failed({{std::string(field), std::string(issue)}});
}

ApiError validation_failed(std::vector<Detail> details) {
    assert(!details.empty());
    std::string message = details.size() == 1
                              ? "Validation failed for 1 field in the request: "
                              : "Validation failed for " + std::to_string(details.size()) +
                                    " fields in the request: ";
    for (const Detail& detail : details) {
        if (&detail != &details.front()) message += ", ";
        message += detail.field;
    }
    return {400, "validation_failed", std::move(message), std::move(details)};
}

ApiError invalid_signature() {
    return {400,
            "validation_failed",
            "Validation failed for 1 field(s)",
            {{"signature", "Signature is invalid"}}};
}

ApiError request_error(std::string_view message) {
    return {400, "request_error", std::string(message)};
}

ApiError host_chain_not_supported(std::uint64_t chain_id) {
    return {400, "host_chain_id_not_supported",
            "Host chain ID " + std::to_string(chain_id) + " is not supported by this relayer"};
}

ApiError not_found() {
    return {404, "not_found", "Request not found"};
}

ApiError rate_limited() {
    return {429, "rate_limited",
            "Server is experiencing high processing load: relayer is currently processing too many "
            "requests"};
}

ApiError unauthorized() {
    return {401, "unauthorized",
            "This relayer needs an API key it knows: send it as x-api-key: KEY, as Authorization: "
            "Bearer KEY or as cookie x-api-key=KEY, one key only"};
}

ApiError key_limited() {
    return {429, "rate_limited",
            "Too many requests with this API key: wait as long as Retry-After says"};
}

ApiError internal_error(std::string_view message) {
    return {500, "internal_server_error", std::string(message)};
}

ApiError can_not_store() {
    return {503, "gateway_not_reachable", "The relayer can not take requests now, retry later"};
}

ApiError can_not_decide() {
    return {503, "gateway_not_reachable",
            "The node of the relayer that decides is not reached now, retry later"};
}

ApiError can_not_connect() {
    return {503, "gateway_not_reachable",
            "The relayer has too many connections, close idle ones or retry later"};
}

}  // namespace api
