#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "chains/evm/account.hpp"
#include "chains/evm/account_check.hpp"
#include "chains/evm/fee_approval.hpp"
#include "chains/evm/fees.hpp"
#include "chains/evm/gas_limits.hpp"
#include "chains/evm/nonces.hpp"
#include "chains/evm/options.hpp"
#include "chains/evm/own_transactions.hpp"
#include "chains/evm/seals.hpp"
#include "chains/evm/sender.hpp"
#include "chains/evm/signer.hpp"
#include "chains/jsonrpc/node.hpp"
#include "engine/gateway.hpp"
#include "engine/task_group.hpp"
#include "ports/clock.hpp"
#include "ports/logger.hpp"

namespace chains::evm {

// What belongs to one key: who signs with it, the account with its nonces, and what is on its way
// from there. Any thread, where the parts say nothing else.
class SigningAccount {
public:
    // What all keys have in common; it outlives them.
    struct Shared {
        const Options& options;
        jsonrpc::Node& write;
        jsonrpc::Node& read;
        Fees& fees;
        GasLimits& gas;
        engine::TaskGroup& reads;
        engine::TaskGroup& sends;
        const ports::Clock& clock;
        ports::Logger& logger;
        std::function<bool()> on_right_chain;  // the node said so
    };

    SigningAccount(const Shared& shared, std::unique_ptr<Signer> signer);

    // Once, before the rest.
    void start(engine::GatewayEvents& events, const engine::Resume& resume);
    // Signing ends; nothing that is signed needs it.
    void stop() { signer_->stop(); }

    // Looks at the account now and then, also while nobody sends. Blocks while it asks.
    void refresh();
    // Something of that is to be looked at soon.
    [[nodiscard]] bool is_in_hurry() const;

    // Why nothing new may be signed now.
    [[nodiscard]] std::optional<engine::Unreachable> unready() const;

    [[nodiscard]] Signer& signer() { return *signer_; }
    [[nodiscard]] Nonces& nonces() { return nonces_; }
    [[nodiscard]] const Nonces& nonces() const { return nonces_; }
    [[nodiscard]] Account& account() { return account_; }
    [[nodiscard]] OwnTransactions& own() { return own_; }
    [[nodiscard]] FeeApproval& fee_approval() { return fee_approval_; }
    [[nodiscard]] Seals& seals() { return seals_; }
    [[nodiscard]] const Seals& seals() const { return seals_; }
    [[nodiscard]] Sender& sender() { return sender_; }
    [[nodiscard]] const Sender& sender() const { return sender_; }

private:
    const std::unique_ptr<Signer> signer_;
    Nonces nonces_;
    OwnTransactions own_;
    Account account_;
    Seals seals_;
    AccountCheck check_;
    Sender sender_;
    FeeApproval fee_approval_;
};

}  // namespace chains::evm
