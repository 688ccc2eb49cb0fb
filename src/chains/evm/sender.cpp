#include "chains/evm/sender.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "chains/evm/events.hpp"
#include "chains/evm/plan.hpp"
#include "chains/evm/revert.hpp"
#include "chains/evm/transaction.hpp"
#include "chains/evm/troubles.hpp"
#include "chains/jsonrpc/decode.hpp"
#include "domain/keccak.hpp"

namespace chains::evm {

using domain::Milliseconds;

namespace {

constexpr Milliseconds watch_pause_first{250};
constexpr Milliseconds watch_pause_max{2'000};
// Looking for a receipt whose nonce is used is slow on purpose: few questions over a long time.
constexpr Milliseconds conflict_pause{10'000};
// After a reply that was lost, before the same bytes are sent again.
constexpr Milliseconds unknown_patience{2'000};
constexpr Milliseconds refused_patience{1'000};
constexpr Milliseconds gap_pause{1'000};
constexpr Milliseconds burial_pause{1'000};
constexpr unsigned gap_tries_max = 10;
// How long one waits for the smaller nonces to leave.
constexpr Milliseconds order_patience{10'000};
// Refusals we know no reason for, before the nonce is used up by a transaction that does nothing.
constexpr std::uint32_t refusals_max = 5;
// Higher fees asked for at once, before only time brings more of them: a node that lies must not
// run up the price.
constexpr std::size_t quick_bumps_max = 4;

Milliseconds next_pause(Milliseconds pause) {
    return std::min(pause * 2, watch_pause_max);
}

FeeQuote fees_of(const Transaction& transaction) {
    return {transaction.legacy, transaction.priority_fee, transaction.max_fee};
}

jsonrpc::Json list_of(std::string text) {
    return jsonrpc::Json::array({std::move(text)});
}

}  // namespace

// One order on its way.
struct Sender::Errand {
    engine::SendOrder order;
    engine::GatewayEvents& events;
    Transaction transaction{};  // the newest

    domain::Monotonic watch_end{};
    Milliseconds watch_pause{watch_pause_first};
    bool watches_slowly = false;
    void (Sender::*after_watch)(const ErrandPtr&) = nullptr;

    unsigned gaps = 0;
    bool with_node = false;
    std::string refusal{};
    bool answered = false;

    [[nodiscard]] const engine::Sealed& newest() const { return order.sealed.back(); }
};

Sender::Sender(const EvmOptions& options, jsonrpc::Node& write, Nonces& nonces, Fees& fees,
               Account& account, const Signer& signer, engine::Executor& executor,
               const engine::Clock& clock, engine::Journal& journal)
    : options_(options),
      write_(write),
      nonces_(nonces),
      fees_(fees),
      account_(account),
      signer_(signer),
      executor_(executor),
      clock_(clock),
      journal_(journal),
      receipts_(options, write, signer.address()),
      departures_(nonces, executor) {}

void Sender::send(std::vector<engine::SendOrder> orders, engine::GatewayEvents& events) {
    for (engine::SendOrder& order : orders) {
        assert(!order.sealed.empty() && order.kind != domain::Kind::share);
        auto errand = std::make_shared<Errand>(Errand{std::move(order), events});
        auto transaction = decode_transaction(errand->newest().bytes);
        if (!transaction || transaction->chain_id != options_.chain_id) {
            refuse_foreign(errand);
            continue;
        }
        if (transaction->nonce != errand->newest().nonce) {
            later(errand, "the stored transaction has another nonce than its row");
            continue;
        }
        errand->transaction = std::move(*transaction);
        if (errand->order.look_up_first) {
            executor_.run([this, errand] { look_up_then_submit(errand); });
        } else {
            submit_in_order(errand);
        }
    }
}

void Sender::submit_in_order(const ErrandPtr& errand) {
    departures_.depart(
        errand->newest().nonce, order_patience, [this, errand] { submit(errand); },
        [this, errand] { later(errand, "smaller nonces come first"); });
}

// The data directory was used with another chain: what was signed for that one is kept for it.
void Sender::refuse_foreign(const ErrandPtr& errand) {
    if (!told_of_foreign_.exchange(true)) {
        journal_.write(engine::Level::error,
                       "sealed_for_another_chain alert=true job_id=" + to_string(errand->order.id) +
                           " hint=\"requests in work belong to the chain this data directory was "
                           "used with; use another storage.data_dir for this one\"");
    }
    later(errand, "sealed for another chain");
}

void Sender::look_up_then_submit(const ErrandPtr& errand) {
    const Receipts::Found found = receipts_.find(errand->order.sealed);
    if (const auto* receipt = std::get_if<TransactionReceipt>(&found)) {
        conclude(errand, *receipt);
    } else if (const auto* trouble = std::get_if<jsonrpc::Trouble>(&found)) {
        finish(errand, unreachable(*trouble, "asking for a receipt"));
    } else {
        submit_in_order(errand);
    }
}

void Sender::submit(const ErrandPtr& errand) {
    const bool sync = send_sync_;
    const jsonrpc::Call call{sync ? "eth_sendRawTransactionSync" : "eth_sendRawTransaction",
                             list_of(jsonrpc::hex(errand->newest().bytes))};
    // No longer than until its fees are to be raised.
    const Milliseconds patience =
        std::min(options_.send_timeout, options_.fees.bump_after + Milliseconds{1'000});
    // The node may hold the call until the receipt is there: no thread waits for that.
    write_.call_then(call, sync ? std::optional(patience) : std::nullopt,
                     [this, errand, sync](jsonrpc::Answer answer) {
                         executor_.run([this, errand, sync, answer = std::move(answer)] {
                             submitted(errand, sync, answer);
                         });
                     });
}

void Sender::submitted(const ErrandPtr& errand, bool sync, const jsonrpc::Answer& answer) {
    const SendVerdict verdict = verdict_on(answer);
    if (verdict == SendVerdict::no_such_method && sync) {
        if (send_sync_.exchange(false)) {
            journal_.write(engine::Level::info,
                           "send_sync_missing action=\"receipts are asked for instead\"");
        }
        submit(errand);
        return;
    }
    judge(errand, answer, verdict);
}

void Sender::judge(const ErrandPtr& errand, const jsonrpc::Answer& answer, SendVerdict verdict) {
    if (verdict != SendVerdict::no_funds && verdict != SendVerdict::not_sent &&
        lacks_funds_.exchange(false)) {
        journal_.write(engine::Level::info, "insufficient_funds_recovered");
    }
    switch (verdict) {
        case SendVerdict::receipt: {
            const auto receipt = decode_receipt(std::get<jsonrpc::Json>(answer));
            const auto is_its = [&](const engine::Sealed& sealed) {
                return receipt && receipt->hash == sealed.hash;
            };
            if (std::ranges::any_of(errand->order.sealed, is_its)) {
                conclude(errand, *receipt);
            } else {
                watch(errand, unknown_patience, &Sender::not_included);
            }
            return;
        }
        case SendVerdict::pending:
            watch(errand, options_.fees.bump_after, &Sender::not_included);
            return;
        case SendVerdict::unknown:
            watch(errand, unknown_patience, &Sender::not_included);
            return;
        case SendVerdict::nonce_used:
            errand->watches_slowly = true;
            watch(errand, options_.foreign_use_patience, &Sender::nonce_conflict);
            return;
        case SendVerdict::nonce_gap:
            executor_.run_after(gap_pause, [this, errand] { after_gap(errand); });
            return;
        case SendVerdict::underpriced:
            if (errand->order.sealed.size() <= quick_bumps_max || is_old(*errand)) {
                bump(errand);
            } else {
                later(errand, "fees are too low");
            }
            return;
        case SendVerdict::no_funds:
            no_funds(errand);
            return;
        case SendVerdict::no_such_method:
            later(errand, "the node takes no transactions");
            return;
        case SendVerdict::refused:
            errand->refusal = std::get<jsonrpc::NodeError>(answer).message;
            watch(errand, refused_patience, &Sender::still_refused);
            return;
        case SendVerdict::not_sent:
            finish(errand, unreachable(std::get<jsonrpc::Trouble>(answer), "sending"));
            return;
    }
}

// What was signed while gas was dear may be affordable now, at the same nonce.
void Sender::no_funds(const ErrandPtr& errand) {
    const FeeAnswer fees = fees_.current();
    const auto* market = std::get_if<FeeQuote>(&fees);
    const bool is_dear = market != nullptr && market->max_fee * 2 < errand->transaction.max_fee;
    if (is_dear && errand->order.sealed.size() <= quick_bumps_max &&
        !receipts_.knows_any(errand->order.sealed)) {
        Transaction cheaper = errand->transaction;
        cheaper.priority_fee = market->priority_fee;
        cheaper.max_fee = market->max_fee;
        reseal(errand, std::move(cheaper), true);
        return;
    }
    if (!lacks_funds_.exchange(true)) journal_.write(engine::Level::error, no_funds_line);
    later(errand, no_funds_text, no_funds_hold);
}

// --- what became of it --------------------------------------------------------------------------

void Sender::watch(const ErrandPtr& errand, Milliseconds patience,
                   void (Sender::*after)(const ErrandPtr&)) {
    assert(after != nullptr && patience >= Milliseconds{0});
    errand->watch_end = clock_.monotonic() + patience;
    errand->watch_pause = errand->watches_slowly ? conflict_pause : watch_pause_first;
    errand->after_watch = after;
    watch_again(errand, Milliseconds{0});
}

void Sender::watch_again(const ErrandPtr& errand, Milliseconds pause) {
    executor_.run_after(pause, [this, errand] {
        const Receipts::Found found = receipts_.find(errand->order.sealed);
        if (const auto* receipt = std::get_if<TransactionReceipt>(&found)) {
            conclude(errand, *receipt);
        } else if (clock_.monotonic() < errand->watch_end) {
            const Milliseconds next = errand->watch_pause;
            if (!errand->watches_slowly) errand->watch_pause = next_pause(next);
            watch_again(errand, next);
        } else if (const auto* trouble = std::get_if<jsonrpc::Trouble>(&found)) {
            finish(errand, unreachable(*trouble, "asking for a receipt"));
        } else {
            (this->*errand->after_watch)(errand);
        }
    });
}

// No block has it: it is stuck, or the node does not have it, or not any more.
void Sender::not_included(const ErrandPtr& errand) {
    if (const auto count = account_.count()) {
        account_.fill_holes(*count);
        // Behind a smaller nonce of ours no fee helps.
        if (*count < errand->newest().nonce) {
            later(errand, "not included yet: smaller nonces come first");
            return;
        }
    }
    if (!receipts_.knows_any(errand->order.sealed)) {
        later(errand, "the node has forgotten it");
    } else if (is_old(*errand)) {
        bump(errand);
    } else {
        later_with_node(errand, "not included yet");
    }
}

bool Sender::is_old(const Errand& errand) const {
    return clock_.wall() - errand.newest().at >= options_.fees.bump_after;
}

// A transaction with this nonce is on chain, and for a long time no node had a receipt of ours.
void Sender::nonce_conflict(const ErrandPtr& errand) {
    const std::uint64_t nonce = errand->newest().nonce;
    const auto count = account_.count();
    if (!count || *count <= nonce || receipts_.knows_any(errand->order.sealed)) {
        later(errand, "the nonce is used, and the receipt is not there yet");
        return;
    }
    nonces_.used(nonce);
    journal_.write(engine::Level::warning,
                   "foreign_nonce_use alert=true job_id=" + to_string(errand->order.id) +
                       " nonce=" + std::to_string(nonce) +
                       " hint=\"another program uses the relayer's key; give it one of its own\"");
    Transaction again = errand->transaction;
    if (is_no_op(again, signer_.address())) {
        finish(errand,
               engine::Rejected{{domain::Reason::send_failed,
                                 "Transaction failed: its nonce was used by another program",
                                 {}}});
        return;
    }
    again.nonce = 0;
    reseal(errand, std::move(again), false);
}

// The smaller nonces may be on their way: the same bytes again. A gap that stays is one that nobody
// fills, or the chain went back.
void Sender::after_gap(const ErrandPtr& errand) {
    if (++errand->gaps % 3 == 0) account_.tend();
    if (errand->gaps >= gap_tries_max) {
        later(errand, "smaller nonces are missing");
    } else {
        submit(errand);
    }
}

// Refused again and again, and known to no node: its nonce is used up by a transaction that does
// nothing, and what comes on chain decides (field report 26).
void Sender::still_refused(const ErrandPtr& errand) {
    if (receipts_.knows_any(errand->order.sealed)) {
        later(errand, "refused, but known to the node");
        return;
    }
    const bool cancels = errand->order.tries + 1 >= refusals_max &&
                         !is_no_op(errand->transaction, signer_.address());
    if (!cancels) {
        later(errand, "the node refuses the transaction: " + errand->refusal);
        return;
    }
    journal_.write(engine::Level::warning,
                   "transaction_cancelled job_id=" + to_string(errand->order.id) +
                       " nonce=" + std::to_string(errand->newest().nonce) + " error=\"" +
                       errand->refusal + "\"");
    Transaction no_op = no_op_like(errand->transaction, signer_.address());
    const FeeAnswer fees = fees_.current();
    const auto* market = std::get_if<FeeQuote>(&fees);
    const FeeQuote old = fees_of(no_op);
    if (const auto higher = bumped(old, old, market != nullptr ? *market : old, options_.fees)) {
        no_op.priority_fee = higher->priority_fee;
        no_op.max_fee = higher->max_fee;
    }
    reseal(errand, std::move(no_op), true);
}

void Sender::bump(const ErrandPtr& errand) {
    assert(errand->transaction.nonce == errand->newest().nonce);
    const FeeAnswer fees = fees_.current();
    if (const auto* trouble = std::get_if<jsonrpc::Trouble>(&fees)) {
        finish(errand, unreachable(*trouble, "asking for fees"));
        return;
    }
    Transaction higher = errand->transaction;
    const auto first = decode_transaction(errand->order.sealed.front().bytes);
    const auto quote = bumped(fees_of(higher), fees_of(first.value_or(higher)),
                              std::get<FeeQuote>(fees), options_.fees);
    if (!quote) {
        later(errand, "fees are at their cap");
        return;
    }
    higher.priority_fee = quote->priority_fee;
    higher.max_fee = quote->max_fee;
    reseal(errand, std::move(higher), true);
}

// --- the end ------------------------------------------------------------------------------------

void Sender::conclude(const ErrandPtr& errand, const TransactionReceipt& receipt) {
    if (!receipts_.is_buried(receipt)) {
        executor_.run_after(burial_pause, [this, errand] { look_up_then_submit(errand); });
        return;
    }
    const auto sealed =
        std::ranges::find(errand->order.sealed, receipt.hash, &engine::Sealed::hash);
    assert(sealed != errand->order.sealed.end());
    nonces_.used(sealed->nonce);
    // A second nonce, taken when the first seemed to be used by somebody else.
    for (const engine::Sealed& other : errand->order.sealed) {
        if (other.nonce != sealed->nonce) nonces_.release(other.nonce);
    }
    const auto transaction = decode_transaction(sealed->bytes);
    if (!transaction) {
        // Only the newest was read before it was sent; this one is as it came from the disk.
        finish(errand,
               engine::Rejected{{domain::Reason::undecodable,
                                 "Transaction failed: The stored transaction can not be read",
                                 {}}});
        return;
    }
    if (is_no_op(*transaction, signer_.address())) {
        finish(errand, engine::Rejected{{domain::Reason::send_failed,
                                         "Transaction failed: Transaction failed after " +
                                             std::to_string(refusals_max) + " retries.",
                                         {}}});
    } else if (!receipt.succeeded) {
        finish(errand, engine::Rejected{receipts_.why_reverted(*transaction, receipt)});
    } else {
        finish(errand,
               engine::Receipt{receipt.hash,
                               request_id_in(receipt.logs, domain::family_of(errand->order.kind),
                                             transaction->to),
                               {}});
    }
}

void Sender::reseal(const ErrandPtr& errand, Transaction transaction, bool has_nonce) {
    // Another nonce comes from the step that stores it, and from nowhere else.
    assert(has_nonce ? transaction.nonce == errand->newest().nonce : transaction.nonce == 0);
    assert(transaction.chain_id == options_.chain_id);
    finish(errand, engine::Reseal{plan_of({std::move(transaction), has_nonce}),
                                  errand->order.sealed.size()});
}

void Sender::later_with_node(const ErrandPtr& errand, std::string reason) {
    errand->with_node = true;
    later(errand, std::move(reason));
}

void Sender::later(const ErrandPtr& errand, std::string reason, Milliseconds hold) {
    finish(errand, engine::Unreachable{std::move(reason), {}, 0, hold});
}

void Sender::finish(const ErrandPtr& errand, engine::SendOutcome outcome) {
    assert(!errand->answered);  // or the engine would count the second one as another's
    errand->answered = true;
    const bool lost = std::holds_alternative<engine::Unreachable>(outcome) && !errand->with_node;
    if (lost) departures_.come_back(errand->newest().nonce);
    errand->events.sent({{errand->order.id, std::move(outcome)}});
    if (!lost) departures_.release();
}

}  // namespace chains::evm
