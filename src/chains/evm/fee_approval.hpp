#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "chains/evm/fees.hpp"
#include "chains/evm/gas_limits.hpp"
#include "chains/evm/nonces.hpp"
#include "chains/evm/options.hpp"
#include "chains/evm/own_transactions.hpp"
#include "chains/evm/signer.hpp"
#include "chains/jsonrpc/node.hpp"
#include "domain/bytes.hpp"
#include "engine/approvals.hpp"
#include "engine/gateway.hpp"

namespace chains::evm {

// Lets the contract that takes fees have tokens of an account (evm-gateway 1.5): reads from the
// chain what there is to approve, and has the account sign `approve` with a nonce of its own. Any
// thread; blocks while it asks.
class FeeApproval {
public:
    // `unready`: why nothing may be signed now.
    FeeApproval(const Options& options, jsonrpc::Node& write, Nonces& nonces, Fees& fees,
                GasLimits& gas, Signer& signer, OwnTransactions& own,
                std::function<std::optional<engine::Unreachable>()> unready);

    [[nodiscard]] engine::Approvals::Terms terms();
    void approve(const engine::ApprovalOrder& order,
                 const std::function<void(const engine::Approvals::Outcome&)>& reply);

private:
    // What the chain has, as it is calculated with.
    struct Found {
        engine::ApprovalTerms terms;
        domain::Address signer{};
        domain::Address token{};
        domain::Address spender{};
        domain::Bytes32 supply{};
    };
    using Look = std::variant<Found, engine::NotApproved>;

    [[nodiscard]] Look look();
    [[nodiscard]] std::optional<engine::NotApproved> read_token(Found& found);
    [[nodiscard]] std::variant<Transaction, engine::NotApproved> draft(
        const Found& found, const domain::Bytes32& amount);

    const Options options_;
    jsonrpc::Node& write_;
    Nonces& nonces_;
    Fees& fees_;
    GasLimits& gas_;
    Signer& signer_;
    OwnTransactions& own_;
    const std::function<std::optional<engine::Unreachable>()> unready_;
};

}  // namespace chains::evm
