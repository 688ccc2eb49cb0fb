#pragma once

#include <cstdint>
#include <variant>

#include "api/api_error.hpp"
#include "domain/bytes.hpp"
#include "net/http_message.hpp"

namespace api {

struct NoIdempotencyKey {};
using IdempotencyKey = std::variant<NoIdempotencyKey, domain::Bytes32, ApiError>;

// The header Idempotency-Key (draft-ietf-httpapi-idempotency-key-header): 1 to 255 visible ASCII
// characters. It is valid for one route and one client, so both are part of the hash.
[[nodiscard]] IdempotencyKey read_idempotency_key(const net::HttpRequest& request,
                                                  std::int64_t client);

// 422: the key stands for a request with other content.
[[nodiscard]] ApiError idempotency_key_reused();

}  // namespace api
