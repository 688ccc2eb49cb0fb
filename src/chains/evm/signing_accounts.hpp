#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "chains/evm/monitor.hpp"
#include "chains/evm/retired_accounts.hpp"
#include "chains/evm/signing_account.hpp"
#include "domain/block.hpp"
#include "domain/request_id.hpp"
#include "engine/gateway.hpp"

namespace chains::evm {

// The keys that sign for one chain: gives requests to those that can take them, and everything
// about a transaction to the key it was signed with. A request that has a nonce stays with its key
// (evm-gateway 5.2). Any thread, where the parts say nothing else.
class SigningAccounts {
public:
    // At least one signer. With several the address of each has to be known.
    SigningAccounts(const SigningAccount::Shared& shared,
                    std::vector<std::unique_ptr<Signer>> signers);

    void start(engine::GatewayEvents& events, const engine::Resume& resume);
    void stop();

    [[nodiscard]] std::size_t size() const { return accounts_.size(); }
    [[nodiscard]] bool is_alone() const { return accounts_.size() == 1; }
    [[nodiscard]] SigningAccount& at(std::size_t index) { return *accounts_.at(index); }
    [[nodiscard]] const SigningAccount& at(std::size_t index) const { return *accounts_.at(index); }
    [[nodiscard]] std::vector<const Signer*> signers() const;
    // The one with this address; empty: the only one. Null: there is none.
    [[nodiscard]] SigningAccount* find(const std::string& address);

    // For so many requests: whose account each of them may have, always one of those with the
    // fewest transactions on their way. Or why nobody can sign anything now.
    using Picked = std::vector<SigningAccount*>;
    [[nodiscard]] std::variant<Picked, engine::Unreachable> pick(std::size_t requests);
    // The same for none.
    [[nodiscard]] std::optional<engine::Unreachable> unready() const;

    // As in engine::Gateway.
    void send(std::vector<engine::SendOrder> orders, engine::GatewayEvents& events);
    void send_own(std::vector<store::OwnTransaction> own);
    [[nodiscard]] engine::Sealed seal(const engine::Plan& plan);
    [[nodiscard]] std::optional<std::uint64_t> fetch_seal(const domain::RequestId& id,
                                                          const engine::Plan& plan);
    void end_seal(std::uint64_t ticket, bool stored);
    void keep_sealed();
    void undo_sealed();

    void bury(const domain::Block& block);
    // Looks at all of them. Blocks while it asks.
    void refresh();
    // Something of an account is to be looked at soon.
    [[nodiscard]] bool is_in_hurry() const;
    // Of any account.
    [[nodiscard]] bool has_hole() const;

    // Why none of them can send; with several their addresses are named.
    [[nodiscard]] std::optional<std::string> problem() const;
    // What of that the chain's node says, and who signs.
    [[nodiscard]] bool can_send() const;
    [[nodiscard]] bool can_sign() const;
    void read(const Monitor& monitor, engine::ChainReadings& readings) const;

private:
    [[nodiscard]] std::optional<engine::Unreachable> unsettled() const;
    // Null: nobody's here.
    [[nodiscard]] SigningAccount* owner_of(const engine::Sealed& sealed);
    void refuse_foreign(engine::SendOrder order, engine::GatewayEvents& events);

    ports::Logger& logger_;
    engine::GatewayEvents* events_ = nullptr;
    std::vector<std::unique_ptr<SigningAccount>> accounts_;
    RetiredAccounts retired_;
    std::atomic<std::size_t> turn_{0};  // who is asked first when all have as many
    std::atomic<bool> told_of_foreign_{false};
    std::atomic<bool> told_of_settled_{false};
};

}  // namespace chains::evm
