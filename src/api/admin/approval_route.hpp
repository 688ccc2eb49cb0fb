#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "api/admin/admin_route.hpp"
#include "api/lookups.hpp"
#include "engine/approvals.hpp"
#include "ports/clock.hpp"
#include "ports/executor.hpp"

namespace api::admin {

// /admin/approval: GET says what an account would let whom take of which token, POST with
// {"amount": …, "signer": …, "token": …, "spender": …}, as GET said, has it signed and sent. Any
// thread; nothing here waits for the chain.
class ApprovalRoute {
public:
    // `executor` is where the chain is asked (Lookups). All three outlive it, and it its routes.
    ApprovalRoute(engine::Approvals& approvals, ports::Executor& executor,
                  const ports::Clock& clock);

    [[nodiscard]] AdminRoute route();

private:
    void tell_terms(const net::HttpRequest& request, const net::Respond& respond);
    void approve(std::string_view body, const net::Respond& respond);
    void ask_chain(std::function<void()> work, const net::Respond& respond);

    engine::Approvals& approvals_;
    // Last: what it still does when all this ends works with the rest.
    Lookups lookups_;
};

// The other side of it. `signer` empty: the only one.
[[nodiscard]] std::string approval_target(const std::string& signer);
[[nodiscard]] std::string approval_body(const engine::ApprovalOrder& order);
// Nothing for what is no such answer.
[[nodiscard]] std::optional<engine::ApprovalTerms> read_approval_terms(const std::string& body);
[[nodiscard]] std::optional<engine::Approved> read_approved(const std::string& body);

// Lines for a terminal.
[[nodiscard]] std::string terms_screen(const engine::ApprovalTerms& terms);

}  // namespace api::admin
