#pragma once

#include <optional>

#include "api/api_error.hpp"
#include "domain/result.hpp"
#include "engine/request_reader.hpp"

namespace api {

// Whether the request is an input proof the gateway rejected: a good answer, `accepted: false`
// (relayer-api 14, D-1).
[[nodiscard]] bool is_rejected_proof(const engine::Ended& ended);

// How a badly ended request is told to its client (relayer-api 9). The stored reason and selector
// decide, never the text. Not for rejected proofs.
[[nodiscard]] ApiError api_error_of(const engine::Ended& ended);

// Nothing when the result can be served for its kind, otherwise the answer of relayer-api 9.4.
[[nodiscard]] std::optional<ApiError> problem_of(const engine::Completed& completed);

}  // namespace api
