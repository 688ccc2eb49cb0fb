#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "chains/evm/account.hpp"
#include "chains/evm/departures.hpp"
#include "chains/evm/fees.hpp"
#include "chains/evm/nonces.hpp"
#include "chains/evm/options.hpp"
#include "chains/evm/receipts.hpp"
#include "chains/evm/send_verdict.hpp"
#include "chains/evm/signer.hpp"
#include "chains/evm/transaction.hpp"
#include "chains/jsonrpc/node.hpp"
#include "engine/clock.hpp"
#include "engine/executor.hpp"
#include "engine/gateway.hpp"
#include "engine/journal.hpp"

namespace chains::evm {

// Brings sealed transactions on chain and finds out what became of them (evm-gateway 2, 4, 5).
//
// Nothing is signed here: when the newest transaction of a request has no future, the order goes
// back with the plan of another one, and the engine commits that first. Before that all hashes of
// the request are looked up. The nonce stays, unless a transaction that is none of them used it.
//
// An order holds a thread only while a node is asked for something; that a node waits for a receipt
// holds none, and pauses are tasks for later.
class Sender {
public:
    Sender(const EvmOptions& options, jsonrpc::Node& write, Nonces& nonces, Fees& fees,
           Account& account, const Signer& signer, engine::Executor& executor,
           const engine::Clock& clock, engine::Journal& journal);

    // Returns at once; one event for each order.
    void send(std::vector<engine::SendOrder> orders, engine::GatewayEvents& events);

    // The last transaction was refused because the account can not pay.
    [[nodiscard]] bool lacks_funds() const { return lacks_funds_; }

private:
    struct Errand;
    using ErrandPtr = std::shared_ptr<Errand>;

    void refuse_foreign(const ErrandPtr& errand);
    void look_up_then_submit(const ErrandPtr& errand);
    void submit_in_order(const ErrandPtr& errand);
    void submit(const ErrandPtr& errand);
    void submitted(const ErrandPtr& errand, bool sync, const jsonrpc::Answer& answer);
    void judge(const ErrandPtr& errand, const jsonrpc::Answer& answer, SendVerdict verdict);

    void no_funds(const ErrandPtr& errand);

    // Asks for the receipt now and then until `patience` is over, then goes on with `after`.
    void watch(const ErrandPtr& errand, domain::Milliseconds patience,
               void (Sender::*after)(const ErrandPtr&));
    void watch_again(const ErrandPtr& errand, domain::Milliseconds pause);
    void not_included(const ErrandPtr& errand);
    void nonce_conflict(const ErrandPtr& errand);
    void after_gap(const ErrandPtr& errand);
    void still_refused(const ErrandPtr& errand);
    void bump(const ErrandPtr& errand);
    [[nodiscard]] bool is_old(const Errand& errand) const;

    void conclude(const ErrandPtr& errand, const TransactionReceipt& receipt);
    void reseal(const ErrandPtr& errand, Transaction transaction, bool has_nonce);
    void later(const ErrandPtr& errand, std::string reason,
               domain::Milliseconds hold = domain::Milliseconds{0});
    // The same for one that the node has: those behind it may go on.
    void later_with_node(const ErrandPtr& errand, std::string reason);
    void finish(const ErrandPtr& errand, engine::SendOutcome outcome);

    const EvmOptions options_;
    jsonrpc::Node& write_;
    Nonces& nonces_;
    Fees& fees_;
    Account& account_;
    const Signer& signer_;
    engine::Executor& executor_;
    const engine::Clock& clock_;
    engine::Journal& journal_;
    Receipts receipts_;
    Departures departures_;
    std::atomic<bool> send_sync_{true};
    std::atomic<bool> lacks_funds_{false};
    std::atomic<bool> told_of_foreign_{false};
};

}  // namespace chains::evm
