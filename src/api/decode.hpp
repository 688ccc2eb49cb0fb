#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "api/api_error.hpp"
#include "api/schema.hpp"
#include "domain/request.hpp"

namespace api {

// A request, or why the body is none. One function per route; steps 3 to 5 of relayer-api 1.3.
using Decoded = std::variant<domain::Request, ApiError>;

// `now_seconds` is Unix time.
[[nodiscard]] Decoded decode_input_proof(std::string_view body, std::uint64_t now_seconds);
[[nodiscard]] Decoded decode_public_decrypt(std::string_view body, std::uint64_t now_seconds);
[[nodiscard]] Decoded decode_user_decrypt(std::string_view body, std::uint64_t now_seconds);
[[nodiscard]] Decoded decode_delegated_user_decrypt(std::string_view body,
                                                    std::uint64_t now_seconds);
[[nodiscard]] Decoded decode_unified_user_decrypt(std::string_view body, std::uint64_t now_seconds);

// The bodies of the relayer requests (relayer-api 1.7, 1.9 to 1.11). Each is what the decoder of
// its name reads.
extern const Schema input_proof_schema;
extern const Schema public_decrypt_schema;
extern const Schema user_decrypt_schema;
extern const Schema delegated_user_decrypt_schema;
extern const Schema unified_user_decrypt_schema;

}  // namespace api
