#include "domain/failure.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace domain {
namespace {

constexpr std::array<std::string_view, 16> reason_names{
    "readiness_timed_out", "response_timed_out",  "host_acl_refused",
    "host_acl_failed",     "readiness_failed",    "reverted",
    "no_contract_code",    "rpc_error",           "send_failed",
    "proof_rejected",      "attempts_used_up",    "round_over",
    "unreachable",         "recovered_too_often", "undecodable",
    "internal_error",
};
static_assert(static_cast<std::size_t>(Reason::internal_error) == reason_names.size() - 1);

}  // namespace

std::string_view hint_of(const Failure& failure) {
    if (failure.selector != insufficient_allowance_selector) return {};
    return "the contract that takes fees may not take more: posthouse approve --amount N";
}

std::string_view to_string(Reason reason) {
    return reason_names.at(static_cast<std::size_t>(reason));
}

std::optional<Reason> reason_from(std::string_view text) {
    const auto found = std::ranges::find(reason_names, text);
    if (found == reason_names.end()) return std::nullopt;
    return static_cast<Reason>(found - reason_names.begin());
}

}  // namespace domain
