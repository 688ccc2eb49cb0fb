#include "api/poll_answer.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace api {

namespace {

using domain::Reason;

struct Revert {
    std::uint32_t selector;
    std::string_view label;  // empty: the signature was refused
};

// relayer-api 9.3
constexpr std::array reverts{
    Revert{0xd93c0665, "protocol_paused"},       // EnforcedPause()
    Revert{0xe450d38c, "insufficient_balance"},  // ERC20InsufficientBalance
    Revert{domain::insufficient_allowance_selector, "insufficient_allowance"},
    Revert{0x2a873d27, ""},  // InvalidUserSignature(bytes)
    Revert{0xf645eedf, ""},  // ECDSAInvalidSignature()
    Revert{0xfce698f7, ""},  // ECDSAInvalidSignatureLength(uint256)
    Revert{0xd78bce0c, ""},  // ECDSAInvalidSignatureS(bytes32)
};

ApiError api_error_of_timeout(const engine::Ended& ended) {
    const bool never_ready =
        domain::is_decrypt(ended.kind) && ended.failure.reason == Reason::readiness_timed_out;
    const std::string text = ended.failure.text.empty() ? "Request timed out (reason not available)"
                                                        : ended.failure.text;
    return {503, never_ready ? "readiness_check_timed_out" : "response_timed_out", text};
}

ApiError api_error_of_failure(const engine::Ended& ended) {
    const std::string text = ended.failure.text.empty() ? "Unknown error" : ended.failure.text;
    if (ended.failure.reason == Reason::unreachable) return {503, "gateway_not_reachable", text};
    if (domain::is_decrypt(ended.kind)) {
        if (ended.failure.reason == Reason::host_acl_refused) {
            return {400, "not_allowed_on_host_acl", text};
        }
        if (ended.failure.reason == Reason::host_acl_failed) return {500, "host_acl_failed", text};
    }
    const auto revert = std::find_if(reverts.begin(), reverts.end(), [&](const Revert& row) {
        return ended.failure.selector == row.selector;
    });
    if (revert == reverts.end()) return internal_error(text);
    if (revert->label.empty()) return invalid_signature();
    return {503, std::string(revert->label), text};
}

bool fits(domain::Family family, const domain::Result& result) {
    switch (family) {
        case domain::Family::input_proof:
            return std::holds_alternative<domain::ProofAccepted>(result);
        case domain::Family::public_decrypt:
            return std::holds_alternative<domain::PublicDecrypted>(result);
        case domain::Family::user_decrypt:
            return std::holds_alternative<domain::UserDecrypted>(result);
        case domain::Family::share:
            return std::holds_alternative<domain::ShareRevealed>(result);
    }
    return false;
}

}  // namespace

bool is_rejected_proof(const engine::Ended& ended) {
    return ended.kind == domain::Kind::input_proof && ended.status == domain::Status::failure &&
           ended.failure.reason == Reason::proof_rejected;
}

ApiError api_error_of(const engine::Ended& ended) {
    return ended.status == domain::Status::timed_out ? api_error_of_timeout(ended)
                                                     : api_error_of_failure(ended);
}

std::optional<ApiError> problem_of(const engine::Completed& completed) {
    if (!completed.result && !completed.unreadable) {
        return internal_error("Internal error: completed request missing response data");
    }
    if (!completed.result || !fits(domain::family_of(completed.kind), *completed.result)) {
        return internal_error("Failed to deserialize response data");
    }
    const auto* decrypted = std::get_if<domain::UserDecrypted>(&*completed.result);
    if (decrypted != nullptr && decrypted->shares.empty()) {
        return internal_error("Internal error: completed request has insufficient shares");
    }
    return {};
}

}  // namespace api
