#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "chains/evm/account.hpp"
#include "chains/evm/fees.hpp"
#include "chains/evm/gas_limits.hpp"
#include "chains/evm/nonce_order.hpp"
#include "chains/evm/nonces.hpp"
#include "chains/evm/options.hpp"
#include "chains/evm/plan.hpp"
#include "chains/evm/receipts.hpp"
#include "chains/evm/send_verdict.hpp"
#include "chains/evm/send_window.hpp"
#include "chains/evm/signer.hpp"
#include "chains/evm/transaction.hpp"
#include "chains/jsonrpc/node.hpp"
#include "engine/gateway.hpp"
#include "ports/clock.hpp"
#include "ports/executor.hpp"
#include "ports/logger.hpp"

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
    Sender(const Options& options, KeyPlace place, jsonrpc::Node& write, Nonces& nonces, Fees& fees,
           GasLimits& gas, Account& account, const Signer& signer, SendWindow& window,
           ports::Executor& executor, const ports::Clock& clock, ports::Logger& logger);

    // Returns at once; one event for each order.
    void send(std::vector<engine::SendOrder> orders, engine::GatewayEvents& events);

    // Some nonce left without us, or is used.
    void let_others_leave() { nonce_order_.release(); }

    // The last transaction was refused because the account can not pay.
    [[nodiscard]] bool lacks_funds() const { return lacks_funds_; }

    // The last transaction was refused because the account may not send.
    [[nodiscard]] bool is_forbidden() const;

    // Why nothing is taken, with the node's words: the account may not send, even a transaction
    // that does nothing is refused, or a nonce is said to be used and not to be; or no receipts
    // come.
    [[nodiscard]] std::optional<std::string> problem() const;

private:
    struct Sending;
    using SendingPtr = std::shared_ptr<Sending>;

    void refuse_foreign(const SendingPtr& sending);
    void look_up_then_submit(const SendingPtr& sending);
    void submit_in_order(const SendingPtr& sending);
    // How long its rate holds it yet; nothing: it has its place, or needs none.
    [[nodiscard]] std::optional<domain::Milliseconds> hold(const SendingPtr& sending);
    void submit(const SendingPtr& sending);
    void submitted(const SendingPtr& sending, bool sync, const jsonrpc::Answer& answer);
    void judge(const SendingPtr& sending, const jsonrpc::Answer& answer, SendVerdict verdict);
    void trace(const SendingPtr& sending, const jsonrpc::Answer& answer) const;
    // The node took it.
    void note_taken(const SendingPtr& sending);
    void note_permitted();

    void no_funds(const SendingPtr& sending);
    void overpriced(const SendingPtr& sending, const jsonrpc::NodeError& error);
    [[nodiscard]] bool sign_cheaper(const SendingPtr& sending, const FeeQuote& quote);
    void forbidden(const SendingPtr& sending, const jsonrpc::NodeError& error);
    void one_in_flight(const SendingPtr& sending);
    void too_much_gas(const SendingPtr& sending, const jsonrpc::NodeError& error);
    [[nodiscard]] std::uint64_t gas_needed(const Sending& sending);
    [[nodiscard]] bool is_send_sync() const;
    [[nodiscard]] bool can_pay(const Sending& sending);

    // Asks for the receipt now and then until `patience` is over, then goes on with `after`.
    void watch(const SendingPtr& sending, domain::Milliseconds patience,
               void (Sender::*after)(const SendingPtr&));
    void watch_again(const SendingPtr& sending, domain::Milliseconds pause);
    [[nodiscard]] bool is_count_past(const SendingPtr& sending);
    [[nodiscard]] bool refuses_no_op() const;
    void not_included(const SendingPtr& sending);
    void forgotten(const SendingPtr& sending, bool is_next);
    void nonce_conflict(const SendingPtr& sending);
    void after_gap(const SendingPtr& sending);
    void contradicted(const SendingPtr& sending);
    void not_indexed(const SendingPtr& sending);
    void still_refused(const SendingPtr& sending);
    void wait_or_cancel(const SendingPtr& sending);
    // How long its nonce is refused by now, over restarts; told to the log once a minute.
    [[nodiscard]] domain::Milliseconds refused_for(const SendingPtr& sending);
    // Its nonce is used up by a transaction that does nothing.
    void cancel(const SendingPtr& sending);
    void bump(const SendingPtr& sending, const FeeFloor& floor = {});
    [[nodiscard]] bool is_below_market(const Sending& sending);
    [[nodiscard]] bool is_old(const Sending& sending) const;

    void conclude(const SendingPtr& sending, const TransactionReceipt& receipt);
    [[nodiscard]] bool has_time_for_event(Sending& sending) const;
    void reseal(const SendingPtr& sending, Transaction transaction, bool has_nonce);
    void later(const SendingPtr& sending, std::string reason,
               domain::Milliseconds hold = domain::Milliseconds{0});
    // The account is why; where there are others, they need not wait.
    void wait_for_account(const SendingPtr& sending, const char* reason);
    void note_account_waits(const char* reason);
    void note_account_goes_on();
    // Null: it does not, or it is the turn of this nonce to find out.
    [[nodiscard]] const char* why_account_waits(std::uint64_t nonce);
    // The same for one that the node has: those behind it may go on.
    void later_with_node(const SendingPtr& sending, std::string reason);
    void finish(const SendingPtr& sending, engine::SendOutcome outcome);

    // Where there are several accounts: one transaction of this one is tried now and then.
    struct AccountWait {
        const char* reason;
        domain::Monotonic next_try;
    };

    // What stays as it is over several tries.
    struct Standstill {
        domain::Monotonic since{};
        domain::Monotonic last{};
        std::string what;

        // Whether it lasts for so long and was seen of late.
        [[nodiscard]] bool is_for(domain::Milliseconds time, domain::Monotonic now) const;
    };
    // Goes on with the one that is there when it is the same.
    static void see(std::optional<Standstill>& standstill, std::string what, domain::Monotonic now);
    void note_busy(const SendingPtr& sending, const jsonrpc::NodeError& error);
    // Once a minute.
    void tell_of_refusal_locked(const SendingPtr& sending, jsonrpc::ReplyClass reply_class,
                                const std::string& words, domain::Monotonic now);

    const Options options_;
    const KeyPlace place_;
    jsonrpc::Node& write_;
    Nonces& nonces_;
    Fees& fees_;
    GasLimits& gas_;
    Account& account_;
    const Signer& signer_;
    SendWindow& window_;
    ports::Executor& executor_;
    const ports::Clock& clock_;
    ports::Logger& logger_;
    Receipts receipts_;
    NonceOrder nonce_order_;
    std::atomic<bool> told_of_sync_{false};
    std::atomic<bool> told_of_one_in_flight_{false};
    std::atomic<bool> lacks_funds_{false};
    std::atomic<bool> told_of_foreign_{false};

    mutable std::mutex mutex_;                             // for what follows
    std::optional<domain::Monotonic> sync_missing_since_;  // asked anew after a while
    std::optional<domain::Monotonic> told_of_refusal_;
    std::optional<std::string> forbidden_;  // the node's words
    std::optional<AccountWait> account_waits_;
    std::optional<std::string> unusable_;  // why the node can not be sent to, until it takes one
    bool refuses_no_op_ = false;           // the same: not even one that does nothing was taken
    std::optional<domain::Monotonic> receipts_missing_since_;
    std::optional<Standstill> pool_busy_;     // nothing was taken since
    std::optional<Standstill> not_included_;  // what is next in line for a block
};

}  // namespace chains::evm
