#pragma once

#include <string>

#include "config/settings.hpp"

namespace commands {

// What the service is for, in a line: `relayer of the embedded chain`.
[[nodiscard]] inline std::string role_of(const config::Settings& settings) {
    std::string role = settings.gateway == config::GatewayType::evm
                           ? "relayer of an EVM gateway chain"
                           : "relayer of the embedded chain";
    if (settings.api.share_disable) return role;
    return role + (settings.votes.base_url().empty() ? ", vote helper of the embedded chain"
                                                     : ", vote helper of a vote chain");
}

}  // namespace commands
