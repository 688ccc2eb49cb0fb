#pragma once

#include "api/schema.hpp"

namespace api {

// The bodies of the relayer requests (relayer-api 1.7, 1.9 to 1.11). Each stands beside the decoder
// that reads it.
extern const Schema input_proof_schema;
extern const Schema public_decrypt_schema;
extern const Schema user_decrypt_schema;
extern const Schema delegated_user_decrypt_schema;
extern const Schema unified_user_decrypt_schema;

}  // namespace api
