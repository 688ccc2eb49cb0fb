#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "chains/evm/account.hpp"
#include "chains/evm/call_batcher.hpp"
#include "chains/evm/fees.hpp"
#include "chains/evm/gas_limits.hpp"
#include "chains/evm/nonces.hpp"
#include "chains/evm/options.hpp"
#include "chains/evm/signer.hpp"
#include "chains/jsonrpc/node.hpp"
#include "engine/gateway.hpp"
#include "engine/task_group.hpp"
#include "ports/clock.hpp"
#include "ports/logger.hpp"

namespace chains::evm {

// What comes before the signature: whether the contract is there, what the transaction would cost,
// and whether it would be refused (evm-gateway 5.1 to 5.4). Orders that wait are asked about
// together.
class Preparation {
public:
    Preparation(const Options& options, jsonrpc::Node& write, jsonrpc::Node& read, Nonces& nonces,
                Account& account, Fees& fees, GasLimits& gas, const Signer& signer,
                engine::TaskGroup& task_group, const ports::Clock& clock, ports::Logger& logger);

    // Returns at once; one event for each order.
    void prepare(std::vector<engine::PrepareOrder> orders, engine::GatewayEvents& events);

    // The last estimation said that the account can not pay.
    [[nodiscard]] bool lacks_funds() const { return lacks_funds_; }

private:
    using Orders = std::vector<engine::PrepareOrder>;

    void work(const Orders& orders);
    // What keeps all of them from being estimated now.
    [[nodiscard]] std::optional<engine::Unreachable> learn_count();
    [[nodiscard]] std::optional<engine::PrepareOutcome> find_code(const domain::Address& contract);
    void estimate(const Orders& orders, const FeeQuote& quote,
                  std::vector<engine::Prepared>& outcomes);
    [[nodiscard]] std::vector<jsonrpc::Answer> ask_estimates(std::vector<jsonrpc::Call> calls);
    [[nodiscard]] engine::PrepareOutcome outcome_of(const domain::RequestId& id,
                                                    const jsonrpc::Answer& estimate,
                                                    Transaction draft);
    [[nodiscard]] engine::PrepareOutcome refused(const domain::RequestId& id,
                                                 const jsonrpc::NodeError& error);
    // What was refused for now, and how often or how long that is borne.
    struct Patience {
        std::uint32_t tries_max = 0;  // 0: the time counts
        domain::Milliseconds time_max{0};
    };
    [[nodiscard]] engine::PrepareOutcome refused_for_now(const domain::RequestId& id,
                                                         const char* reason,
                                                         const Patience& patience,
                                                         domain::Failure verdict);
    // One more of this request; whether it was the last that is borne.
    [[nodiscard]] bool is_last_refusal(const domain::RequestId& id, const Patience& patience);
    void forget_refusals(const domain::RequestId& id);
    [[nodiscard]] domain::Address target_of(const domain::Request& request) const;

    const Options options_;
    jsonrpc::Node& write_;
    jsonrpc::Node& read_;
    Nonces& nonces_;
    Account& account_;
    Fees& fees_;
    GasLimits& gas_;
    const Signer& signer_;
    const ports::Clock& clock_;
    ports::Logger& logger_;
    std::atomic<bool> lacks_funds_{false};
    std::atomic<engine::GatewayEvents*> events_{nullptr};
    CallBatcher<engine::PrepareOrder> line_;

    std::mutex mutex_;  // for what follows
    std::set<domain::Address> with_code_;
    // Of each request that an estimation refused so far. Pauses of a busy node are no tries, so the
    // engine's count of troubles is not the one.
    struct Refusals {
        std::uint32_t tries = 0;
        domain::Monotonic since{};
    };
    std::map<std::uint64_t, Refusals> refusals_;
};

}  // namespace chains::evm
