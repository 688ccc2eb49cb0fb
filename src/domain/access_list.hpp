#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "domain/bytes.hpp"
#include "domain/request.hpp"

namespace domain {

// One thing the access list of a host chain is asked before a decryption (relayer-api 4.3).
struct AclQuestion {
    domain::Bytes32 handle{};
    std::string check;  // its name as failure texts spell it (relayer-api 9.2)
};

// In the order of the request; none for kinds that decrypt nothing.
[[nodiscard]] std::vector<AclQuestion> acl_questions(const domain::Request& request);

// What the key servers ask beyond that before they answer a unified request; a refusal of theirs
// comes after the fee was paid (relayer-api 4.3). One question for each handle: whether any of the
// allowed contracts may use it. None when any contract is allowed.
[[nodiscard]] std::vector<AclQuestion> allowance_questions(const domain::Request& request);

// Why the key servers refuse this request whatever the chain says; nothing when they do not.
[[nodiscard]] std::optional<std::string> refused_by_itself(const domain::Request& request);

// The host chains of a decryption's handles, in their order, without repetitions (evm-gateway 9.3).
[[nodiscard]] std::vector<std::uint64_t> host_chains_of(const domain::Request& request);

}  // namespace domain
