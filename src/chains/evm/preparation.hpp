#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "chains/evm/call_batcher.hpp"
#include "chains/evm/fees.hpp"
#include "chains/evm/gas_limits.hpp"
#include "chains/evm/options.hpp"
#include "chains/evm/signing_accounts.hpp"
#include "chains/jsonrpc/node.hpp"
#include "chains/jsonrpc/wei.hpp"
#include "engine/gateway.hpp"
#include "engine/task_group.hpp"
#include "ports/clock.hpp"

namespace chains::evm {

// What comes before the signature: whether the contract is there, what the transaction would cost,
// and whether it would be refused (evm-gateway 5.1 to 5.4). Orders that wait are asked about
// together, each in the name of the account that is to sign it.
class Preparation {
public:
    Preparation(const Options& options, jsonrpc::Node& write, jsonrpc::Node& read,
                SigningAccounts& accounts, Fees& fees, GasLimits& gas,
                engine::TaskGroup& task_group, const ports::Clock& clock);

    // Returns at once; one event for each order.
    void prepare(std::vector<engine::PrepareOrder> orders, engine::GatewayEvents& events);

private:
    using Orders = std::vector<engine::PrepareOrder>;

    // A transaction that is asked about.
    struct Question {
        const engine::PrepareOrder* order;
        SigningAccount* account;
        Transaction draft;
    };

    void work(const Orders& orders);
    // Those that are left: their account can not take them, and another one may.
    [[nodiscard]] Orders work(const Orders& orders, std::vector<engine::Prepared>& outcomes);
    // What keeps an account from being asked for now.
    [[nodiscard]] std::optional<engine::Unreachable> learn_count(SigningAccount& account);
    [[nodiscard]] std::optional<engine::PrepareOutcome> find_code(const domain::Address& contract);
    [[nodiscard]] std::vector<Question> questions_about(const Orders& orders,
                                                        const SigningAccounts::Picked& accounts,
                                                        const FeeQuote& quote,
                                                        std::vector<engine::Prepared>& outcomes);
    [[nodiscard]] Orders estimate(std::vector<Question> questions,
                                  std::vector<engine::Prepared>& outcomes);
    [[nodiscard]] std::vector<jsonrpc::Answer> ask(std::vector<jsonrpc::Call> calls);
    // Nothing: its gas is known.
    [[nodiscard]] std::optional<engine::PrepareOutcome> outcome_of(const jsonrpc::Answer& estimate,
                                                                   Question& question);
    [[nodiscard]] engine::PrepareOutcome refused(const jsonrpc::NodeError& error,
                                                 const Question& question);
    [[nodiscard]] static engine::Plan plan(Question& question);
    // What an account has, and the transactions it has to pay for.
    struct Purse {
        std::optional<jsonrpc::Wei> balance{};  // absent: not known, then it has enough
        std::size_t transactions = 0;
    };
    using Purses = std::map<SigningAccount*, Purse, ByPlace>;
    [[nodiscard]] Purses purses_of(const std::vector<Question>& questions) const;
    [[nodiscard]] static bool can_pay(const Question& question, Purse& purse);
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
    SigningAccounts& accounts_;
    Fees& fees_;
    GasLimits& gas_;
    const ports::Clock& clock_;
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
