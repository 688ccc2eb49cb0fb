#pragma once

#include <cstdint>
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

// The host chains of a decryption's handles, in their order, without repetitions (evm-gateway 9.3).
[[nodiscard]] std::vector<std::uint64_t> host_chains_of(const domain::Request& request);

}  // namespace domain
