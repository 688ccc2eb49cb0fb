#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "chains/evm/account.hpp"
#include "chains/evm/account_check.hpp"
#include "chains/evm/fee_approval.hpp"
#include "chains/evm/fees.hpp"
#include "chains/evm/gas_limits.hpp"
#include "chains/evm/nonces.hpp"
#include "chains/evm/options.hpp"
#include "chains/evm/own_transactions.hpp"
#include "chains/evm/plan.hpp"
#include "chains/evm/seals.hpp"
#include "chains/evm/sender.hpp"
#include "chains/evm/signer.hpp"
#include "chains/jsonrpc/node.hpp"
#include "domain/time.hpp"
#include "engine/gateway.hpp"
#include "engine/task_group.hpp"
#include "ports/clock.hpp"
#include "ports/logger.hpp"

namespace chains::evm {

// Where there are several accounts, lines say whose they are. Any thread.
class AccountLines : public ports::Logger {
public:
    // `account`: with checksum; empty: the only one.
    AccountLines(ports::Logger& logger, std::string account)
        : logger_(logger), account_(std::move(account)) {}
    void write(ports::LogLevel level, std::string_view line) override;
    [[nodiscard]] bool wants(ports::LogLevel level) const override { return logger_.wants(level); }

private:
    ports::Logger& logger_;
    const std::string account_;
};

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
        SendWindow& window;
        engine::TaskGroup& reads;
        engine::TaskGroup& sends;
        const ports::Clock& clock;
        ports::Logger& logger;
        std::function<bool()> on_right_chain;  // the node said so
    };

    SigningAccount(const Shared& shared, std::unique_ptr<Signer> signer, KeyPlace place);

    // Once, before the rest. `resume`: of this account.
    void start(engine::GatewayEvents& events, const engine::Resume& resume);
    // Signing ends; nothing that is signed needs it.
    void stop() { signer_->stop(); }

    // Looks at the account now and then, also while nobody sends. Blocks while it asks.
    void refresh();
    // Something of that is to be looked at soon.
    [[nodiscard]] bool is_in_hurry() const;
    // A number was given back below larger ones, and who signs could fill it.
    [[nodiscard]] bool has_hole() const;

    // Why nothing may be signed with any key yet.
    [[nodiscard]] std::optional<engine::Unreachable> unsettled() const { return check_.unready(); }
    // Why nothing new may be signed with this one now.
    [[nodiscard]] std::optional<engine::Unreachable> unready() const;
    // The same, where another one may do: what is signed stays here, however long it waits.
    [[nodiscard]] std::optional<engine::Unreachable> unusable() const;

    // What an estimation in its name came to. After a refusal others take its turn for a while.
    enum class Refusal {
        no_funds,       // not for one transaction
        no_more_funds,  // beyond those on their way
        forbidden,
    };
    void refused(Refusal refusal);
    void permitted();

    // Why it can not send.
    [[nodiscard]] std::optional<std::string> problem() const;
    // It is the node that says so, not who signs.
    [[nodiscard]] bool is_refused() const { return lacks_funds() || sender_.problem(); }

    // With checksum; empty while it is not known.
    [[nodiscard]] std::string address() const;
    [[nodiscard]] Signer& signer() { return *signer_; }
    [[nodiscard]] const Signer& signer() const { return *signer_; }
    [[nodiscard]] Nonces& nonces() { return nonces_; }
    [[nodiscard]] const Nonces& nonces() const { return nonces_; }
    [[nodiscard]] Account& account() { return account_; }
    [[nodiscard]] OwnTransactions& own() { return own_; }
    [[nodiscard]] FeeApproval& fee_approval() { return fee_approval_; }
    [[nodiscard]] Seals& seals() { return seals_; }
    [[nodiscard]] const Seals& seals() const { return seals_; }
    [[nodiscard]] Sender& sender() { return sender_; }
    [[nodiscard]] KeyPlace place() const { return place_; }

private:
    [[nodiscard]] bool lacks_funds() const;

    const KeyPlace place_;
    const std::unique_ptr<Signer> signer_;
    const ports::Clock& clock_;
    AccountLines logger_;
    Nonces nonces_;
    OwnTransactions own_;
    Account account_;
    Seals seals_;
    AccountCheck check_;
    Sender sender_;
    FeeApproval fee_approval_;

    struct Spared {
        const char* why;
        domain::Monotonic since;
    };
    mutable std::mutex mutex_;  // for what follows
    bool lacks_funds_ = false;  // the last estimation said so
    std::optional<Spared> spared_;
};

// In the order of the configuration, so that one seed is one simulation.
struct ByPlace {
    bool operator()(const SigningAccount* a, const SigningAccount* b) const {
        return a->place().index < b->place().index;
    }
};

}  // namespace chains::evm
