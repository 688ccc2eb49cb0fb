#pragma once

#include <optional>
#include <string>

#include "api/admin/admin_route.hpp"
#include "engine/approvals.hpp"

namespace api::admin {

// /admin/approval: GET says what an account would let whom take of which token, POST with
// {"amount": …, "signer": …, "token": …, "spender": …}, as GET said, has it signed and sent. Blocks
// while the chain is asked. `approvals` outlives the route.
[[nodiscard]] AdminRoute approval_route(engine::Approvals& approvals);

// The other side of it. `signer` empty: the only one.
[[nodiscard]] std::string approval_target(const std::string& signer);
[[nodiscard]] std::string approval_body(const engine::ApprovalOrder& order);
// Nothing for what is no such answer.
[[nodiscard]] std::optional<engine::ApprovalTerms> read_approval_terms(const std::string& body);
[[nodiscard]] std::optional<engine::Approved> read_approved(const std::string& body);

// Lines for a terminal.
[[nodiscard]] std::string terms_screen(const engine::ApprovalTerms& terms);

}  // namespace api::admin
