#pragma once

#include <optional>
#include <vector>

#include "config/settings.hpp"
#include "engine/chain_marks.hpp"

namespace commands {

// The chains that requests go to; that of the votes only where shares are taken. Throws
// std::runtime_error when the key of the account is none.
[[nodiscard]] std::vector<engine::ChainIdentity> chain_identities(const config::Settings& settings);
// That of the votes alone, which has no account. Nothing: shares are not taken.
[[nodiscard]] std::optional<engine::ChainIdentity> vote_chain_identity(
    const config::Settings& settings);

}  // namespace commands
