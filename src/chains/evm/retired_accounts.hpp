#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "chains/evm/account_check.hpp"
#include "chains/evm/options.hpp"
#include "chains/jsonrpc/node.hpp"
#include "engine/gateway.hpp"
#include "engine/task_group.hpp"
#include "ports/logger.hpp"

namespace chains::evm {

// Accounts that the database has nonces of and whose keys are not configured any more. In an old
// copy of the database that is started with other keys, theirs may be the transactions that were
// sent since (evm-gateway 5.6). Any thread.
class RetiredAccounts {
public:
    RetiredAccounts(const Options& options, jsonrpc::Node& write, jsonrpc::Node& read,
                    engine::TaskGroup& reads, ports::Logger& logger);

    // Once, before the rest.
    void start(engine::GatewayEvents& events, const engine::Resume& resume);

    // Looks at those of whom nothing is known yet. `configured`: the addresses of all keys, with
    // checksum. Blocks while it asks.
    void refresh(const std::set<std::string>& configured);

    // Why nothing may be signed yet.
    [[nodiscard]] std::optional<engine::Unreachable> unsettled() const;

private:
    void find(const std::set<std::string>& configured);

    const Options options_;
    jsonrpc::Node& write_;
    jsonrpc::Node& read_;
    engine::TaskGroup& reads_;
    ports::Logger& logger_;
    engine::GatewayEvents* events_ = nullptr;
    engine::Resume resume_;

    mutable std::mutex mutex_;  // for what follows
    bool are_found_ = false;
    std::map<std::string, std::unique_ptr<AccountCheck>> checks_;  // none goes
};

}  // namespace chains::evm
