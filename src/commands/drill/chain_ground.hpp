#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "chains/evm/signer.hpp"
#include "commands/drill/chain_account.hpp"
#include "config/settings.hpp"
#include "store/owner_lock.hpp"

namespace commands::drill {

// Where a drill on a chain begins.
struct ChainGround {
    std::uint64_t chain_id = 0;
    domain::Address signer{};
    std::uint64_t nonce = 0;  // the signer's next
    std::uint64_t block = 0;  // the newest; those of the drill come after it
    // No Posthouse begins on the configured directory meanwhile; null: it holds no database.
    std::unique_ptr<store::OwnerLock> lock;
};

// Throws BadSettings unless the gateway is a real chain that is not known to be one where coins
// cost money, nor serves one, and one key signs.
void require_test_chain(const config::Settings& settings);

// Throws std::runtime_error when a Posthouse runs on the configured directory, or has requests
// there that have not ended: they have nonces of the signer, or wait for one. None begins there as
// long as the lock is held; null: there is no such directory.
[[nodiscard]] std::unique_ptr<store::OwnerLock> require_idle(const store::Options& options);

// Throws BadSettings when the node is on another chain, and std::runtime_error when transactions of
// the signer wait that are not the drill's.
[[nodiscard]] ChainGround survey(const config::Settings& settings, ChainAccount& account,
                                 const domain::Address& signer);

// What the operator is asked to agree to, in one line.
[[nodiscard]] std::string price_of(const ChainGround& ground, std::uint64_t requests);

}  // namespace commands::drill
