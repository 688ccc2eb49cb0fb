#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "chains/evm/account_check.hpp"
#include "chains/evm/signing_account.hpp"
#include "engine/gateway.hpp"

namespace chains::evm {

// Accounts that the database has nonces of and whose keys are not configured any more. In an old
// copy of the database that is started with other keys, theirs may be the transactions that were
// sent since (evm-gateway 5.2). Any thread.
class RetiredAccounts {
public:
    explicit RetiredAccounts(const SigningAccount::Shared& shared) : shared_(shared) {}

    // Once, before the rest.
    void start(engine::GatewayEvents& events, const engine::Resume& resume);

    // Looks at those of whom nothing is known yet. `configured`: the addresses of all keys, with
    // checksum. Blocks while it asks.
    void refresh(const std::set<std::string>& configured);

    // Why nothing may be signed yet.
    [[nodiscard]] std::optional<engine::Unreachable> unsettled() const;

private:
    struct Retired {
        Retired(const SigningAccount::Shared& shared, const std::string& account)
            : lines(shared.logger, account),
              check(shared.options, shared.read, shared.reads, lines) {}

        AccountLines lines;
        AccountCheck check;
        std::atomic<bool> told{false};  // that no node tells its count
    };
    // What the database says, until it is known which of these keys are configured.
    struct Known {
        std::optional<std::uint64_t> look_from;
        std::map<std::string, std::uint64_t> nonces;
        std::set<std::string> unsettled;  // accounts with transactions whose nonces may change
    };

    void find(const std::set<std::string>& configured);
    void ask_count(const std::string& account, Retired& retired);

    const SigningAccount::Shared shared_;
    engine::GatewayEvents* events_ = nullptr;

    mutable std::mutex mutex_;  // for what follows
    std::optional<Known> known_;
    std::map<std::string, std::unique_ptr<Retired>> accounts_;  // none goes
};

}  // namespace chains::evm
