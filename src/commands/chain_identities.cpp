#include "commands/chain_identities.hpp"

#include <filesystem>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>

#include "chains/evm/signer.hpp"
#include "chains/evm/signers/make_signer.hpp"
#include "chains/evm/transaction.hpp"
#include "chains/loopback/transaction.hpp"
#include "chains/votes/reveal.hpp"

namespace commands {

namespace {

std::string hex(const domain::Address& address) {
    return "0x" + domain::to_hex(address);
}

bool has_ledger_beside(const config::Settings& settings) {
    std::error_code unknown;
    return std::filesystem::exists(settings.loopback.ledger, unknown) ||
           std::filesystem::exists(settings.store.directory / "loopback.db", unknown);
}

engine::ChainIdentity loopback(store::Chain chain) {
    engine::ChainIdentity identity{chain, "loopback"};
    identity.is_trial = true;
    identity.is_own = [](domain::ByteView sealed, bool) {
        return chains::loopback::decode_transaction(sealed).has_value();
    };
    return identity;
}

// Those that are known before anybody is asked; all of them or none.
std::set<domain::Address> accounts_of(const chains::evm::Options& evm) {
    std::set<domain::Address> accounts;
    try {
        for (const auto& signing : evm.keys()) {
            const auto account = chains::evm::signers::configured_account(signing);
            if (!account) return {};
            accounts.insert(*account);
        }
    } catch (const std::invalid_argument& error) {
        throw std::runtime_error(std::string("gateway.type evm: ") + error.what());
    }
    return accounts;
}

engine::ChainIdentity evm(const config::Settings& settings) {
    const chains::evm::Options& options = settings.evm;
    engine::ChainIdentity identity{store::Chain::gateway,
                                   "evm chain_id=" + std::to_string(options.chain_id) +
                                       " decryption=" + hex(options.decryption) +
                                       " input_verification=" + hex(options.input_verification)};
    const std::set<domain::Address> accounts = accounts_of(options);
    for (const domain::Address& account : accounts) identity.signers.insert(hex(account));
    identity.has_trial_beside = has_ledger_beside(settings);
    identity.is_own = [accounts, chain_id = options.chain_id, decryption = options.decryption,
                       input_verification = options.input_verification](domain::ByteView sealed,
                                                                        bool by_signer) {
        const auto transaction = chains::evm::decode_transaction(sealed);
        if (!transaction || transaction->chain_id != chain_id) return false;
        const auto sender = chains::evm::sender_of(sealed);
        if (by_signer && !accounts.empty() && (!sender || !accounts.contains(*sender))) {
            return false;
        }
        // What was given up has a no-op in its place.
        return transaction->to == decryption || transaction->to == input_verification ||
               transaction->to == sender;
    };
    return identity;
}

// Its chain has no number and no contracts; reveals name none.
engine::ChainIdentity vote_chain(const config::Settings& settings) {
    engine::ChainIdentity identity{store::Chain::votes,
                                   "rest codespace=" + settings.votes.chain_codespace};
    // With a loopback gateway the ledger is explained.
    identity.has_trial_beside =
        settings.gateway != config::GatewayType::loopback && has_ledger_beside(settings);
    identity.is_own = [](domain::ByteView sealed, bool) {
        return chains::votes::name_in(sealed).has_value();
    };
    return identity;
}

}  // namespace

std::vector<engine::ChainIdentity> chain_identities(const config::Settings& settings) {
    const bool is_trial = settings.gateway == config::GatewayType::loopback;
    std::vector<engine::ChainIdentity> identities{is_trial ? loopback(store::Chain::gateway)
                                                           : evm(settings)};
    if (auto votes = vote_chain_identity(settings)) identities.push_back(*std::move(votes));
    return identities;
}

std::optional<engine::ChainIdentity> vote_chain_identity(const config::Settings& settings) {
    if (settings.api.share_disable) return std::nullopt;
    if (!settings.votes.base_url().empty()) return vote_chain(settings);
    if (settings.gateway != config::GatewayType::loopback) return std::nullopt;
    return loopback(store::Chain::votes);
}

}  // namespace commands
