#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace api {

// One thing wrong with one member.
struct Detail {
    std::string field;
    std::string issue;

    bool operator==(const Detail&) const = default;
};

// A failed answer of the relayer API (relayer-api 1.2): the HTTP status and the members of `error`.
struct ApiError {
    int status = 500;
    std::string label;
    std::string message;
    std::vector<Detail> details = {};
    // Where the message is fixed: one more member of `error` that says what to look at. Clients
    // skip members they do not know (sdk-client-contract 1.5).
    std::string hint = {};
};

// Decoding problems (relayer-api 1.4).
[[nodiscard]] ApiError malformed_json(std::string hint);
[[nodiscard]] ApiError missing_field(std::string_view field);
[[nodiscard]] ApiError wrong_field(std::string_view field, std::string_view issue);

// 400 `validation_failed` with all details (1.5). Not for an empty list.
[[nodiscard]] ApiError validation_failed(std::vector<Detail> details);

// The fixed body for a signature nobody stands behind (1.11, 9.3).
[[nodiscard]] ApiError invalid_signature();

[[nodiscard]] ApiError request_error(std::string_view message);
[[nodiscard]] ApiError host_chain_not_supported(std::uint64_t chain_id);
[[nodiscard]] ApiError not_found();
[[nodiscard]] ApiError rate_limited();

// No key, or none that is good: the answer does not tell which.
[[nodiscard]] ApiError unauthorized();
// One key posts more often than it may.
[[nodiscard]] ApiError key_limited();
[[nodiscard]] ApiError internal_error(std::string_view message = "Internal server error");

// Nothing was stored and the same POST may work later (disk full, inbox full, stopping). Among the
// labels a client accepts with 503 only `gateway_not_reachable` says so; the reference defines it
// and never sends it, `protocol_overload` belongs to 429 (sdk-client-contract 3).
[[nodiscard]] ApiError can_not_store();
// The node that was asked may not answer, and can not have it answered by the one that may: between
// two owners of a book, or because it does not reach the owner.
[[nodiscard]] ApiError can_not_decide();
// There are too many connections: nobody has looked at the request.
[[nodiscard]] ApiError can_not_connect();

}  // namespace api
