#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace domain {

// Why a request ended badly; stored beside the text so that nothing has to be read back out of it.
enum class Reason {
    readiness_timed_out,  // never became ready (relayer-api 9.1)
    response_timed_out,   // included, never answered (9.1)
    host_acl_refused,     // (9.2) "Not allowed on host ACL: …"
    host_acl_failed,      // (9.2) "Host ACL check failed: …"
    readiness_failed,     // readiness could not be asked
    reverted,             // the chain or its simulation refused the transaction
    no_contract_code,     // nothing lives at the contract's address
    rpc_error,            // a node refused to estimate, for no reason that is known
    send_failed,          // retries used up before anything was signed
    proof_rejected,       // the gateway rejected the input proof
    attempts_used_up,     // shares: the last failed attempt
    round_over,           // shares: not revealed before the end of the round
    unreachable,          // no node could be reached for too long, nothing being signed (9.3)
    recovered_too_often,  // the process died on it again and again
    undecodable,          // the stored row can not be read
    internal_error,
};

struct Failure {
    Reason reason = Reason::internal_error;
    std::string text;                       // served to the client; never holds a URL or a secret
    std::optional<std::uint32_t> selector;  // of a revert

    bool operator==(const Failure&) const = default;
};

// ERC20InsufficientAllowance(address,uint256,uint256): the contract that takes fees may not take
// more (evm-gateway 4.5).
inline constexpr std::uint32_t insufficient_allowance_selector = 0xfb8f41b2;

// What an operator can do about it; empty: nothing that is known. Not for clients.
[[nodiscard]] std::string_view hint_of(const Failure& failure);

[[nodiscard]] std::string_view to_string(Reason reason);
[[nodiscard]] std::optional<Reason> reason_from(std::string_view text);

}  // namespace domain
