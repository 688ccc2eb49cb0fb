#include "chains/evm/sender.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/sanitize.hpp"
#include "chains/evm/eth_call.hpp"
#include "chains/evm/events.hpp"
#include "chains/evm/plan.hpp"
#include "chains/evm/revert.hpp"
#include "chains/evm/transaction.hpp"
#include "chains/evm/unreachable.hpp"
#include "chains/jsonrpc/decode.hpp"
#include "chains/jsonrpc/node_error.hpp"
#include "chains/jsonrpc/reply_class.hpp"
#include "domain/keccak.hpp"

namespace chains::evm {

using domain::Milliseconds;

namespace {

constexpr Milliseconds watch_pause_first{250};
constexpr Milliseconds watch_pause_max{2'000};
// Looking for a receipt whose nonce is used is slow on purpose: few questions over a long time.
constexpr Milliseconds conflict_pause{15'000};
// After a reply that was lost, before the same bytes are sent again.
constexpr Milliseconds unknown_patience{2'000};
constexpr Milliseconds refused_patience{1'000};
// How long receipts may be missing before health says so.
constexpr Milliseconds receipts_patience = std::chrono::minutes{1};
// The same for a node that takes nothing, and for one that takes what no block has.
constexpr Milliseconds busy_patience = std::chrono::minutes{1};
constexpr Milliseconds inclusion_patience = std::chrono::minutes{10};
constexpr Milliseconds seen_of_late = std::chrono::minutes{5};
constexpr Milliseconds gap_pause{1'000};
constexpr Milliseconds burial_pause{1'000};
// For a receipt without the event of its request: how often, and how long it is asked for again.
constexpr Milliseconds event_pause{2'000};
constexpr Milliseconds event_patience{20'000};
constexpr unsigned gap_tries_max = 10;
// How long one waits for the smaller nonces to leave.
constexpr Milliseconds order_patience{10'000};
// How long the node's words are not repeated in the log.
constexpr Milliseconds refusal_line_interval = std::chrono::minutes{1};
constexpr Milliseconds sync_missing_for = std::chrono::minutes{10};
// An account that may have one transaction in flight: how soon the next is tried, how long one
// waits for its turn, and when it is found out again whether that still holds.
constexpr Milliseconds turn_pause{1'000};
constexpr Milliseconds turn_patience{60'000};
constexpr unsigned turn_tries_max = 60;
constexpr Milliseconds one_in_flight_for = std::chrono::minutes{10};
// Shorter than the pause of those that wait, or none would ever be tried.
constexpr Milliseconds account_pause{no_funds_hold - Milliseconds{500}};
// Signatures asked for at once, before only time brings more of them: a node that lies must not run
// up the price, nor the number of what is signed.
constexpr std::size_t quick_bumps_max = 4;

Milliseconds next_pause(Milliseconds pause) {
    return std::min(pause * 2, watch_pause_max);
}

// For the log, in one line.
std::string words_of(const jsonrpc::NodeError& error) {
    std::string words = error.message;
    if (!error.detail.empty()) words += "; " + error.detail;
    return jsonrpc::shortened(words);
}

// The same of a reply that does not say what became of the transaction.
std::string words_of(const jsonrpc::Answer& answer) {
    if (const auto* error = std::get_if<jsonrpc::NodeError>(&answer)) return words_of(*error);
    const auto* problem = std::get_if<jsonrpc::TransportError>(&answer);
    return problem != nullptr ? problem->text : "no result";
}

std::optional<domain::Address> known_or(std::optional<domain::Address> known,
                                        domain::ByteView signed_bytes) {
    return known ? known : sender_of(signed_bytes);
}

std::string at_the_cap(jsonrpc::Wei cap) {
    const std::string key = "gateway.tx_engine.fees.max_fee_cap_gwei";
    if (cap == 0) return "fees are ten times what the chain asks for; more needs " + key;
    return "fees are at their cap, " + key + ": no more than " +
           std::to_string(static_cast<std::uint64_t>(cap)) + " wei for a unit of gas";
}

jsonrpc::Json list_of(std::string text) {
    return jsonrpc::Json::array({std::move(text)});
}

}  // namespace

// One order on its way.
struct Sender::Sending {
    engine::SendOrder order;
    engine::GatewayEvents& events;
    domain::Monotonic begun{};
    std::optional<engine::Included> included{};
    Transaction transaction{};  // the newest

    domain::Monotonic watch_end{};
    Milliseconds watch_pause{watch_pause_first};
    void (Sender::*after_watch)(const SendingPtr&) = nullptr;
    std::optional<domain::Monotonic> event_missing_since{};  // in its receipt

    SendWindow::PlacePtr place{};  // until its bytes are handed over
    std::string doubt{};           // why nobody knows whether the node took it; empty: it did
    std::string refusal{};
    jsonrpc::ReplyClass refusal_class = jsonrpc::ReplyClass::not_understood;
    unsigned gaps = 0;
    unsigned turns = 0;
    std::optional<bool> refused{};  // engine::Sent
    bool watches_slowly = false;
    bool with_node = false;
    bool answered = false;
    domain::Address self{};  // whose it is

    [[nodiscard]] const engine::Sealed& newest() const { return order.sealed.back(); }
};

Sender::Sender(const Options& options, KeyPlace place, jsonrpc::Node& write, Nonces& nonces,
               Fees& fees, GasLimits& gas, Account& account, const Signer& signer,
               SendWindow& window, ports::Executor& executor, const ports::Clock& clock,
               ports::Logger& logger)
    : options_(options),
      place_(place),
      write_(write),
      nonces_(nonces),
      fees_(fees),
      gas_(gas),
      account_(account),
      signer_(signer),
      window_(window),
      executor_(executor),
      clock_(clock),
      logger_(logger),
      receipts_(options, write),
      nonce_order_(nonces, executor) {}

void Sender::send(std::vector<engine::SendOrder> orders, engine::GatewayEvents& events) {
    for (engine::SendOrder& order : orders) {
        assert(!order.sealed.empty() && order.kind != domain::Kind::share);
        auto sending =
            std::make_shared<Sending>(Sending{std::move(order), events, clock_.monotonic()});
        auto transaction = decode_transaction(sending->newest().bytes);
        if (!transaction || transaction->chain_id != options_.chain_id) {
            refuse_foreign(sending);
            continue;
        }
        if (transaction->nonce != sending->newest().nonce) {
            later(sending, "the stored transaction has another nonce than its row");
            continue;
        }
        sending->transaction = std::move(*transaction);
        // While the signer is out of reach after a start, the bytes say whose they are.
        const auto self = known_or(signer_.known_address(), sending->newest().bytes);
        if (!self) {
            later(sending, "nobody signed the stored transaction");
            continue;
        }
        sending->self = *self;
        nonces_.hold(sending->newest().nonce);
        if (const char* reason = why_account_waits(sending->newest().nonce)) {
            wait_for_account(sending, reason);
        } else if (sending->order.look_up_first) {
            executor_.run([this, sending] { look_up_then_submit(sending); });
        } else {
            submit_in_order(sending);
        }
    }
}

void Sender::submit_in_order(const SendingPtr& sending) {
    nonce_order_.run_in_order(
        sending->newest().nonce, nonces_.one_at_a_time() ? turn_patience : order_patience,
        [this, sending] { return hold(sending); }, [this, sending] { submit(sending); },
        [this, sending] { later(sending, "smaller nonces come first"); });
}

std::optional<Milliseconds> Sender::hold(const SendingPtr& sending) {
    // What goes out once more does not count.
    const std::uint32_t places = std::exchange(sending->order.sends_in_any_second_max, 0);
    if (places == 0) return std::nullopt;
    auto taken = window_.take(domain::family_of(sending->order.kind), places);
    if (auto* const place = std::get_if<SendWindow::PlacePtr>(&taken)) {
        sending->place = std::move(*place);
        return std::nullopt;
    }
    sending->order.sends_in_any_second_max = places;
    return std::get<Milliseconds>(taken);
}

// The data directory was used with another chain: what was signed for that one is kept for it.
void Sender::refuse_foreign(const SendingPtr& sending) {
    if (!told_of_foreign_.exchange(true)) {
        logger_.write(ports::LogLevel::error,
                      "sealed_for_another_chain alert=true job_id=" + to_string(sending->order.id) +
                          " hint=\"requests in work belong to the chain this data directory was "
                          "used with; use another storage.data_dir for this one\"");
    }
    later(sending, "sealed for another chain");
}

void Sender::look_up_then_submit(const SendingPtr& sending) {
    const Receipts::Found found = receipts_.find(sending->order.sealed);
    if (const auto* receipt = std::get_if<TransactionReceipt>(&found)) {
        conclude(sending, *receipt);
    } else if (const auto* problem = std::get_if<jsonrpc::TransportError>(&found)) {
        finish(sending, unreachable(*problem, "asking for a receipt"));
    } else {
        submit_in_order(sending);
    }
}

void Sender::submit(const SendingPtr& sending) {
    const bool sync = is_send_sync();
    jsonrpc::Call call{sync ? "eth_sendRawTransactionSync" : "eth_sendRawTransaction",
                       list_of(jsonrpc::hex(sending->newest().bytes))};
    const SendWindow::PlacePtr place = std::exchange(sending->place, nullptr);
    if (place) call.written = [place] { place->written(); };
    // No longer than until its fees are to be raised.
    const Milliseconds patience =
        std::min(options_.send_timeout, options_.fees.bump_after + Milliseconds{1'000});
    // The node may hold the call until the receipt is there: no thread waits for that.
    write_.call_then(call, sync ? std::optional(patience) : std::nullopt,
                     [this, sending, sync, place](jsonrpc::Answer answer) {
                         if (place) place->written();
                         executor_.run([this, sending, sync, answer = std::move(answer)] {
                             submitted(sending, sync, answer);
                         });
                     });
}

void Sender::submitted(const SendingPtr& sending, bool sync, const jsonrpc::Answer& answer) {
    const SendVerdict verdict = verdict_on(answer);
    if (verdict == SendVerdict::no_such_method && sync) {
        {
            const std::lock_guard lock{mutex_};
            sync_missing_since_ = clock_.monotonic();
        }
        if (!told_of_sync_.exchange(true)) {
            logger_.write(ports::LogLevel::info,
                          "send_sync_missing action=\"receipts are asked for instead\"");
        }
        submit(sending);
        return;
    }
    trace(sending, answer);
    // Everybody serves the plain one: a code alone says something else.
    const bool is_refused =
        verdict == SendVerdict::no_such_method &&
        jsonrpc::classify(words_of(answer)) != jsonrpc::ReplyClass::method_missing;
    judge(sending, answer, is_refused ? SendVerdict::refused : verdict);
}

bool Sender::is_send_sync() const {
    const std::lock_guard lock{mutex_};
    return !sync_missing_since_ || clock_.monotonic() - *sync_missing_since_ >= sync_missing_for;
}

void Sender::trace(const SendingPtr& sending, const jsonrpc::Answer& answer) const {
    const auto* error = std::get_if<jsonrpc::NodeError>(&answer);
    if (error == nullptr || !logger_.wants(ports::LogLevel::debug)) return;
    logger_.write(ports::LogLevel::debug,
                  "send_refused job_id=" + to_string(sending->order.id) +
                      " nonce=" + std::to_string(sending->newest().nonce) +
                      " class=" + std::string(name_of(class_on_send(*error))) +
                      (error->url == 0 ? "" : " url=" + std::to_string(error->url)) + " code=" +
                      std::to_string(error->code) + " error=" + base::log_value(words_of(*error)));
}

void Sender::note_taken(const SendingPtr& sending) {
    sending->refused = false;
    {
        const std::lock_guard lock{mutex_};
        unusable_.reset();
        refuses_no_op_ = false;
        pool_busy_.reset();
    }
    note_permitted();
    note_account_goes_on();
}

bool Sender::Standstill::is_for(Milliseconds time, domain::Monotonic now) const {
    return last - since >= time && now - last <= seen_of_late;
}

void Sender::see(std::optional<Standstill>& standstill, std::string what, domain::Monotonic now) {
    const bool goes_on =
        standstill && standstill->what == what && now - standstill->last <= seen_of_late;
    if (!goes_on) standstill = Standstill{now, now, std::move(what)};
    standstill->last = now;
}

void Sender::note_busy(const SendingPtr& sending, const jsonrpc::NodeError& error) {
    const domain::Monotonic now = clock_.monotonic();
    const std::lock_guard lock{mutex_};
    see(pool_busy_, std::string(name_of(class_on_send(error))), now);
    tell_of_refusal_locked(sending, class_on_send(error), words_of(error), now);
}

void Sender::note_permitted() {
    bool was_forbidden = false;
    {
        const std::lock_guard lock{mutex_};
        was_forbidden = forbidden_.has_value();
        forbidden_.reset();
    }
    if (was_forbidden) logger_.write(ports::LogLevel::info, "sender_forbidden_recovered");
}

bool Sender::is_forbidden() const {
    const std::lock_guard lock{mutex_};
    return forbidden_.has_value();
}

bool Sender::refuses_no_op() const {
    const std::lock_guard lock{mutex_};
    return refuses_no_op_;
}

std::optional<std::string> Sender::problem() const {
    const std::lock_guard lock{mutex_};
    if (forbidden_) return std::string(forbidden_text) + ": " + *forbidden_;
    if (unusable_) return unusable_;
    if (receipts_missing_since_ &&
        clock_.monotonic() - *receipts_missing_since_ >= receipts_patience) {
        return "the node says errors for receipts: it may be indexing";
    }
    if (pool_busy_ && pool_busy_->is_for(busy_patience, clock_.monotonic())) {
        return "the node takes no transactions: " + pool_busy_->what;
    }
    if (not_included_ && not_included_->is_for(inclusion_patience, clock_.monotonic())) {
        return "nothing is included: the transaction with nonce " + not_included_->what +
               " was sent, and no block has it";
    }
    return std::nullopt;
}

void Sender::judge(const SendingPtr& sending, const jsonrpc::Answer& answer, SendVerdict verdict) {
    // A refusal nobody understands may mean the same: the balance is compared then.
    if (verdict != SendVerdict::no_funds && verdict != SendVerdict::not_sent &&
        verdict != SendVerdict::refused && lacks_funds_.exchange(false)) {
        logger_.write(ports::LogLevel::info, "insufficient_funds_recovered");
    }
    if (verdict == SendVerdict::receipt || verdict == SendVerdict::pending) note_taken(sending);
    if (verdict == SendVerdict::nonce_used) note_permitted();
    switch (verdict) {
        case SendVerdict::receipt: {
            const auto receipt = decode_receipt(std::get<jsonrpc::Json>(answer));
            const auto is_its = [&](const engine::Sealed& sealed) {
                return receipt && receipt->hash == sealed.hash;
            };
            if (std::ranges::any_of(sending->order.sealed, is_its)) {
                conclude(sending, *receipt);
            } else {
                sending->doubt = "the receipt of another transaction";
                watch(sending, unknown_patience, &Sender::not_included);
            }
            return;
        }
        case SendVerdict::pending:
            watch(sending, options_.fees.bump_after, &Sender::not_included);
            return;
        case SendVerdict::unknown:
            sending->doubt = words_of(answer);
            watch(sending, unknown_patience, &Sender::not_included);
            return;
        case SendVerdict::nonce_used:
            if (const auto count = account_.count()) {
                if (*count <= sending->newest().nonce) {
                    watch(sending, refused_patience, &Sender::contradicted);
                    return;
                }
            }
            sending->watches_slowly = true;
            watch(sending, options_.foreign_use_patience, &Sender::nonce_conflict);
            return;
        case SendVerdict::nonce_gap:
            executor_.run_after(gap_pause, [this, sending] { after_gap(sending); });
            return;
        case SendVerdict::underpriced:
            if (sending->order.sealed.size() <= quick_bumps_max || is_old(*sending)) {
                const auto named = jsonrpc::classify(std::get<jsonrpc::NodeError>(answer));
                bump(sending, {named.fee_min, named.tip_min});
            } else {
                later(sending, "fees are too low");
            }
            return;
        case SendVerdict::overpriced:
            overpriced(sending, std::get<jsonrpc::NodeError>(answer));
            return;
        case SendVerdict::no_funds:
            no_funds(sending);
            return;
        case SendVerdict::no_such_method:
            note_busy(sending, std::get<jsonrpc::NodeError>(answer));
            later(sending, "the node takes no transactions");
            return;
        case SendVerdict::busy: {
            const auto& error = std::get<jsonrpc::NodeError>(answer);
            note_busy(sending, error);
            later(sending, "the node takes nothing now: " + words_of(error),
                  jsonrpc::classify(error).wait.value_or(Milliseconds{0}));
            return;
        }
        case SendVerdict::one_in_flight:
            one_in_flight(sending);
            return;
        case SendVerdict::sender_forbidden:
            forbidden(sending, std::get<jsonrpc::NodeError>(answer));
            return;
        case SendVerdict::gas_too_high:
            too_much_gas(sending, std::get<jsonrpc::NodeError>(answer));
            return;
        case SendVerdict::doomed:
        case SendVerdict::refused: {
            const auto& error = std::get<jsonrpc::NodeError>(answer);
            sending->refusal = words_of(error);
            sending->refusal_class = class_on_send(error);
            watch(sending, refused_patience, &Sender::still_refused);
            return;
        }
        case SendVerdict::not_sent:
            finish(sending, unreachable(std::get<jsonrpc::TransportError>(answer), "sending"));
            return;
    }
}

// What was signed while gas was dear may be affordable now, at the same nonce.
void Sender::no_funds(const SendingPtr& sending) {
    const FeeAnswer fees = fees_.current();
    const auto* market = std::get_if<FeeQuote>(&fees);
    const bool is_dear = market != nullptr && market->max_fee * 2 < sending->transaction.max_fee;
    if (is_dear && sign_cheaper(sending, *market)) return;
    if (!lacks_funds_.exchange(true)) logger_.write(ports::LogLevel::error, no_funds_line);
    note_account_waits(no_funds_text);
    wait_for_account(sending, no_funds_text);
}

// What the chain asks for may be less than the cap that the node has of its own; if not, it may be
// one day.
void Sender::overpriced(const SendingPtr& sending, const jsonrpc::NodeError& error) {
    note_busy(sending, error);
    const Transaction& present = sending->transaction;
    auto most = jsonrpc::classify(error).fee_cap;
    if (most) *most /= std::max<jsonrpc::Wei>(present.gas_limit, 1);
    const FeeAnswer fees = fees_.current();
    const auto* market = std::get_if<FeeQuote>(&fees);
    const auto lower =
        market != nullptr ? lowered(fees_of(present), *market, most) : std::optional<FeeQuote>{};
    if (lower && sign_cheaper(sending, *lower)) return;
    later(sending, "its fee is above the node's own cap: " + words_of(error));
}

// At the same nonce; a node that has the one there is takes no cheaper one.
bool Sender::sign_cheaper(const SendingPtr& sending, const FeeQuote& quote) {
    if (sending->order.sealed.size() > quick_bumps_max && !is_old(*sending)) return false;
    if (receipts_.knows_any(sending->order.sealed)) return false;
    Transaction cheaper = sending->transaction;
    cheaper.priority_fee = cheaper.legacy ? 0 : quote.priority_fee;
    cheaper.max_fee = quote.max_fee;
    reseal(sending, std::move(cheaper), true);
    return true;
}

// All of the account is refused, so a transaction that does nothing would be as well: what is
// signed is kept, one of them is tried now and then, and nothing more is signed (field report 91).
void Sender::forbidden(const SendingPtr& sending, const jsonrpc::NodeError& error) {
    bool is_new = false;
    {
        const std::lock_guard lock{mutex_};
        is_new = !forbidden_.has_value();
        forbidden_ = words_of(error);
    }
    if (is_new) {
        logger_.write(ports::LogLevel::error,
                      "sender_forbidden alert=true account=" + jsonrpc::hex(sending->self) +
                          " error=" + base::log_value(words_of(error)) +
                          " action=\"nothing new is signed until the node takes transactions "
                          "of the account; all requests are kept\"");
    }
    note_account_waits(forbidden_text);
    wait_for_account(sending, forbidden_text);
}

// Each waits until the one before it is on chain (EIP-7702, field report 86).
void Sender::one_in_flight(const SendingPtr& sending) {
    if (!told_of_one_in_flight_.exchange(true)) {
        logger_.write(ports::LogLevel::warning,
                      "one_transaction_in_flight account=" + jsonrpc::hex(sending->self) +
                          " hint=\"the node takes one pending transaction of this account at a "
                          "time, as with an EIP-7702 delegation; one is sent after the other\"");
    }
    if (!nonces_.one_at_a_time()) {
        nonces_.one_at_a_time(true);
        executor_.run_after(one_in_flight_for, [this] {
            nonces_.one_at_a_time(false);
            nonce_order_.release();
        });
    }
    nonce_order_.mark_unsent(sending->newest().nonce);
    if (++sending->turns >= turn_tries_max) {
        later(sending, "others of this account come first");
        return;
    }
    executor_.run_after(turn_pause, [this, sending] { look_up_then_submit(sending); });
}

// The same with less gas, as far as that is enough (field report 94).
void Sender::too_much_gas(const SendingPtr& sending, const jsonrpc::NodeError& error) {
    auto named = jsonrpc::classify(error).gas_cap;
    const Transaction& present = sending->transaction;
    // Without a number it is the block's limit or, where that is not less, EIP-7825's.
    if (!named && gas_.cap().value_or(present.gas_limit) >= present.gas_limit) {
        named = transaction_gas_max;
    }
    sending->refusal = words_of(error);
    sending->refusal_class = jsonrpc::ReplyClass::gas_too_high;
    const std::uint64_t needed = gas_needed(*sending);
    // One that is too small for this one says nothing about others.
    if (named && *named >= needed && *named < present.gas_limit) gas_.note_cap(*named);
    const auto cap = gas_.cap();
    if (!cap || *cap >= present.gas_limit || *cap < needed || is_no_op(present, sending->self)) {
        watch(sending, refused_patience, &Sender::still_refused);
        return;
    }
    if (sending->order.sealed.size() > quick_bumps_max && !is_old(*sending)) {
        later(sending, "the node names another cap on gas each time");
        return;
    }
    Transaction smaller = present;
    smaller.gas_limit = *cap;
    reseal(sending, std::move(smaller), true);
}

// What the node estimates now; when it does not, what the limit was made of.
std::uint64_t Sender::gas_needed(const Sending& sending) {
    const Transaction& transaction = sending.transaction;
    jsonrpc::Json call{{"from", jsonrpc::hex(sending.self)},
                       {"to", jsonrpc::hex(transaction.to)},
                       {"value", "0x0"}};
    set_calldata(call, transaction.data);
    const auto answer =
        write_.call({"eth_estimateGas", jsonrpc::Json::array({std::move(call), "latest"})});
    const auto* result = std::get_if<jsonrpc::Json>(&answer);
    const auto estimate = result != nullptr ? jsonrpc::quantity(*result) : std::nullopt;
    return estimate.value_or((transaction.gas_limit * 10 + 11) / 12);
}

// As far as it can be asked.
bool Sender::can_pay(const Sending& sending) {
    const Transaction& transaction = sending.transaction;
    const auto answer = write_.call(
        {"eth_getBalance", jsonrpc::Json::array({jsonrpc::hex(sending.self), "latest"})});
    const auto* result = std::get_if<jsonrpc::Json>(&answer);
    const auto balance = result != nullptr ? jsonrpc::wei(*result) : std::nullopt;
    return !balance ||
           *balance / std::max<jsonrpc::Wei>(transaction.max_fee, 1) >= transaction.gas_limit;
}

// --- what became of it --------------------------------------------------------------------------

void Sender::watch(const SendingPtr& sending, Milliseconds patience,
                   void (Sender::*after)(const SendingPtr&)) {
    assert(after != nullptr && patience >= Milliseconds{0});
    sending->watch_end = clock_.monotonic() + patience;
    sending->watch_pause = sending->watches_slowly
                               ? std::clamp(patience / 2, watch_pause_first, conflict_pause)
                               : watch_pause_first;
    sending->after_watch = after;
    watch_again(sending, Milliseconds{0});
}

void Sender::watch_again(const SendingPtr& sending, Milliseconds pause) {
    executor_.run_after(pause, [this, sending] {
        const Receipts::Found found = receipts_.find(sending->order.sealed);
        if (const auto* receipt = std::get_if<TransactionReceipt>(&found)) {
            conclude(sending, *receipt);
        } else if (clock_.monotonic() < sending->watch_end) {
            const Milliseconds next = sending->watch_pause;
            if (!sending->watches_slowly) sending->watch_pause = next_pause(next);
            watch_again(sending, next);
        } else if (const auto* problem = std::get_if<jsonrpc::TransportError>(&found)) {
            finish(sending, unreachable(*problem, "asking for a receipt"));
        } else if (std::holds_alternative<Receipts::NotIndexed>(found) && is_count_past(sending)) {
            not_indexed(sending);
        } else {
            (this->*sending->after_watch)(sending);
        }
    });
}

// It may be its own: nothing else is signed for it, however long this lasts.
void Sender::not_indexed(const SendingPtr& sending) {
    {
        const std::lock_guard lock{mutex_};
        if (!receipts_missing_since_) receipts_missing_since_ = clock_.monotonic();
    }
    later_with_node(sending, "the nonce is used, and the node can not tell receipts yet");
}

bool Sender::is_count_past(const SendingPtr& sending) {
    const auto count = account_.count();
    return !count || *count > sending->newest().nonce;
}

// No block has it: it is stuck, or the node does not have it, or not any more.
void Sender::not_included(const SendingPtr& sending) {
    const auto count = account_.count();
    if (count) {
        account_.fill_holes(*count);
        // Behind a smaller nonce of ours no fee helps.
        if (*count < sending->newest().nonce) {
            later(sending, "not included yet: smaller nonces come first");
            return;
        }
    }
    if (count == sending->newest().nonce) {
        const std::lock_guard lock{mutex_};
        see(not_included_, std::to_string(*count), clock_.monotonic());
    }
    if (!receipts_.knows_any(sending->order.sealed)) {
        forgotten(sending, count == sending->newest().nonce);
    } else if (is_old(*sending)) {
        bump(sending);
    } else {
        later_with_node(sending, "not included yet");
    }
}

// Once is an eviction, and the same bytes go again. A node that takes and drops it over and over
// refuses it in its way; one that never said that it took it does not.
void Sender::forgotten(const SendingPtr& sending, bool is_next) {
    if (!sending->doubt.empty()) {
        // It may be in a pool that shows it to nobody, and too cheap by now.
        if (is_next && is_old(*sending) && is_below_market(*sending)) return bump(sending);
        later(sending,
              "the node does not know it, and did not say that it took it: " + sending->doubt);
        return;
    }
    if (!is_next) {
        later(sending, "the node has forgotten it");
        return;
    }
    // Who shows nothing that waits can not have dropped it before there is a block without it.
    if (!receipts_.has_block_since(sending->newest().at)) {
        later(sending, "no block has come since it was signed");
        return;
    }
    sending->refusal_class = jsonrpc::ReplyClass::not_understood;
    sending->refusal = "the node takes the transaction and drops it";
    wait_or_cancel(sending);
}

bool Sender::is_below_market(const Sending& sending) {
    const FeeAnswer fees = fees_.current();
    const auto* market = std::get_if<FeeQuote>(&fees);
    return market != nullptr && market->max_fee > sending.transaction.max_fee;
}

bool Sender::is_old(const Sending& sending) const {
    return evm::is_old(clock_, sending.newest().at, options_.fees);
}

// A transaction with this nonce is on chain, and for a long time no node had a receipt of ours.
void Sender::nonce_conflict(const SendingPtr& sending) {
    const std::uint64_t nonce = sending->newest().nonce;
    // The block that had it may have been replaced since the node said so, and behind a balancer
    // the count may have come from another node than the receipts.
    if (!receipts_.is_nonce_of_another(sending->order.sealed, sending->self)) {
        later(sending, "the nonce is used, and the receipt is not there yet");
        return;
    }
    nonces_.used(nonce);
    logger_.write(ports::LogLevel::warning,
                  "foreign_nonce_use alert=true job_id=" + to_string(sending->order.id) +
                      " nonce=" + std::to_string(nonce) +
                      " hint=\"another program uses the relayer's key; give it one of its own\"");
    Transaction again = sending->transaction;
    if (is_no_op(again, sending->self) || sending->order.has_failed) {
        finish(sending,
               engine::Rejected{{domain::Reason::send_failed,
                                 "Transaction failed: its nonce was used by another program",
                                 {}}});
        return;
    }
    again.nonce = 0;
    sending->refused = false;  // it gets another nonce
    reseal(sending, std::move(again), false);
}

// The node says that its nonce is used, and that the account has not used it yet (relayer-api 13.4,
// T-034): a refusal like any other, unless another node knows better by then.
void Sender::contradicted(const SendingPtr& sending) {
    const std::string nonce = std::to_string(sending->newest().nonce);
    sending->refusal_class = jsonrpc::ReplyClass::nonce_too_low;
    sending->refusal = "nonce " + nonce +
                       " is said to be too low, and the account's count says "
                       "that it is not used";
    {
        const std::lock_guard lock{mutex_};
        unusable_ = "the node contradicts itself: " + sending->refusal;
    }
    still_refused(sending);
}

// The smaller nonces may be on their way: the same bytes again. A gap that stays is one that nobody
// fills, or the chain went back.
void Sender::after_gap(const SendingPtr& sending) {
    if (++sending->gaps % 3 == 0) account_.refresh();
    if (sending->gaps >= gap_tries_max) {
        later(sending, "smaller nonces are missing");
    } else {
        submit(sending);
    }
}

void Sender::still_refused(const SendingPtr& sending) {
    const bool is_understood = sending->refusal_class != jsonrpc::ReplyClass::not_understood;
    if (receipts_.knows_any(sending->order.sealed)) {
        // The one before it is there, and this one was too cheap to replace it.
        if (!is_understood && sending->order.sealed.size() > 1 && is_old(*sending)) {
            return bump(sending);
        }
        later(sending, "refused, but known to the node");
    } else if (!is_understood && account_.count().value_or(0) > sending->newest().nonce) {
        // Whatever the words were, this is why.
        sending->watches_slowly = true;
        watch(sending, options_.foreign_use_patience, &Sender::nonce_conflict);
    } else {
        wait_or_cancel(sending);
    }
}

// What can not pass is cancelled at once, everything else after a span of time (field reports 26
// and 80); what comes on chain decides.
void Sender::wait_or_cancel(const SendingPtr& sending) {
    const jsonrpc::ReplyClass said = sending->refusal_class;
    const bool may_pass = said != jsonrpc::ReplyClass::too_large &&
                          said != jsonrpc::ReplyClass::reverted &&
                          said != jsonrpc::ReplyClass::gas_too_high;
    const Milliseconds so_far = refused_for(sending);
    const Milliseconds patience = nonces_.has_larger(sending->newest().nonce)
                                      ? options_.refusal_patience_blocking
                                      : options_.refusal_patience;
    // One that does nothing frees its nonce once the smaller ones are free; where it is refused as
    // well, none does (field report 91).
    const bool is_vain = nonces_.has_smaller(sending->newest().nonce) || refuses_no_op();
    const bool has_time = is_no_op(sending->transaction, sending->self) ||
                          (may_pass && (so_far < patience || is_vain));
    if (may_pass && (lacks_funds_ || !has_time)) {
        if (!can_pay(*sending)) {
            // The account explains it: the span begins anew once it can pay.
            sending->refused = false;
            no_funds(sending);
            return;
        }
        if (lacks_funds_.exchange(false)) {
            logger_.write(ports::LogLevel::info, "insufficient_funds_recovered");
        }
    }
    if (has_time) {
        later(sending, "the node refuses the transaction: " + sending->refusal);
    } else {
        cancel(sending);
    }
}

Milliseconds Sender::refused_for(const SendingPtr& sending) {
    sending->refused = true;
    const domain::Monotonic now = clock_.monotonic();
    const std::lock_guard lock{mutex_};
    if (is_no_op(sending->transaction, sending->self)) {
        unusable_ = "the node refuses every transaction: " + sending->refusal;
        refuses_no_op_ = true;
    }
    tell_of_refusal_locked(sending, sending->refusal_class, sending->refusal, now);
    const Milliseconds before = sending->order.refused_for;
    if (before == Milliseconds{0}) return before;  // the first refusal
    return before + std::chrono::duration_cast<Milliseconds>(now - sending->begun);
}

void Sender::tell_of_refusal_locked(const SendingPtr& sending, jsonrpc::ReplyClass reply_class,
                                    const std::string& words, domain::Monotonic now) {
    if (told_of_refusal_ && now - *told_of_refusal_ < refusal_line_interval) return;
    told_of_refusal_ = now;
    logger_.write(ports::LogLevel::warning,
                  "transaction_refused job_id=" + to_string(sending->order.id) +
                      " nonce=" + std::to_string(sending->newest().nonce) + " class=" +
                      std::string(name_of(reply_class)) + " error=" + base::log_value(words));
}

void Sender::cancel(const SendingPtr& sending) {
    logger_.write(ports::LogLevel::warning,
                  "transaction_cancelled job_id=" + to_string(sending->order.id) +
                      " nonce=" + std::to_string(sending->newest().nonce) +
                      " class=" + std::string(name_of(sending->refusal_class)) +
                      " error=" + base::log_value(sending->refusal));
    reseal(sending,
           dearer_no_op(sending->transaction, sending->self, fees_.current(), options_.fees), true);
}

void Sender::bump(const SendingPtr& sending, const FeeFloor& floor) {
    assert(sending->transaction.nonce == sending->newest().nonce);
    const FeeAnswer fees = fees_.current();
    if (const auto* problem = std::get_if<jsonrpc::TransportError>(&fees)) {
        finish(sending, unreachable(*problem, "asking for fees"));
        return;
    }
    Transaction higher = sending->transaction;
    const auto first = decode_transaction(sending->order.sealed.front().bytes);
    const auto quote = bumped(fees_of(higher), fees_of(first.value_or(higher)),
                              std::get<FeeQuote>(fees), options_.fees, floor);
    if (!quote) {
        later(sending, at_the_cap(options_.fees.max_fee_cap));
        return;
    }
    set_fees(higher, *quote);
    reseal(sending, std::move(higher), true);
}

// --- the end ------------------------------------------------------------------------------------

void Sender::conclude(const SendingPtr& sending, const TransactionReceipt& receipt) {
    if (!receipts_.is_buried(receipt)) {
        executor_.run_after(burial_pause, [this, sending] { look_up_then_submit(sending); });
        return;
    }
    const auto sealed =
        std::ranges::find(sending->order.sealed, receipt.hash, &engine::Sealed::hash);
    assert(sealed != sending->order.sealed.end());
    const auto transaction = decode_transaction(sealed->bytes);
    const bool is_request = transaction && !is_no_op(*transaction, sending->self);
    const auto reference =
        is_request
            ? request_id_in(receipt.logs, domain::family_of(sending->order.kind), transaction->to)
            : std::nullopt;
    if (is_request && receipt.succeeded && !reference && has_time_for_event(*sending)) {
        executor_.run_after(event_pause, [this, sending] { look_up_then_submit(sending); });
        return;
    }
    const domain::Block block{receipt.block_number, receipt.block_hash};
    nonces_.included(sealed->nonce, block);
    sending->included =
        engine::Included{receipt.hash, block, {receipt.gas_used, receipt.gas_price}};
    note_taken(sending);
    {
        const std::lock_guard lock{mutex_};
        receipts_missing_since_.reset();
        not_included_.reset();
    }
    // A second nonce, taken when the first seemed to be used by somebody else.
    for (const engine::Sealed& other : sending->order.sealed) {
        if (other.nonce != sealed->nonce) nonces_.release(other.nonce);
    }
    if (!transaction) {
        // Only the newest was read before it was sent; this one is as it came from the disk.
        finish(sending,
               engine::Rejected{{domain::Reason::undecodable,
                                 "Transaction failed: The stored transaction can not be read",
                                 {}}});
        return;
    }
    if (!is_request) {
        finish(sending, engine::Rejected{{domain::Reason::send_failed,
                                          "Transaction failed: Transaction refused by the node",
                                          {}}});
    } else if (!receipt.succeeded) {
        finish(sending,
               engine::Rejected{receipts_.why_reverted(sending->self, *transaction, receipt)});
    } else {
        finish(sending, engine::Receipt{receipt.hash, reference, {}});
    }
}

// A receipt may come without its logs; what fails for it is paid for again by whoever asks anew.
bool Sender::has_time_for_event(Sending& sending) const {
    const domain::Monotonic now = clock_.monotonic();
    if (!sending.event_missing_since) sending.event_missing_since = now;
    return now - *sending.event_missing_since < event_patience;
}

void Sender::reseal(const SendingPtr& sending, Transaction transaction, bool has_nonce) {
    // Another nonce comes from the step that stores it, and from nowhere else.
    assert(has_nonce ? transaction.nonce == sending->newest().nonce : transaction.nonce == 0);
    assert(transaction.chain_id == options_.chain_id);
    finish(sending, engine::Reseal{plan_of({std::move(transaction), has_nonce, place_.index}),
                                   sending->order.sealed.size(), !has_nonce});
}

void Sender::later_with_node(const SendingPtr& sending, std::string reason) {
    sending->with_node = true;
    later(sending, std::move(reason));
}

void Sender::later(const SendingPtr& sending, std::string reason, Milliseconds hold) {
    finish(sending, engine::Unreachable{std::move(reason), {}, 0, hold});
}

void Sender::wait_for_account(const SendingPtr& sending, const char* reason) {
    finish(sending,
           engine::Unreachable{
               .reason = reason, .hold = no_funds_hold, .holds_others = place_.is_alone()});
}

void Sender::note_account_waits(const char* reason) {
    if (place_.is_alone()) return;
    const std::lock_guard lock{mutex_};
    account_waits_ = AccountWait{reason, clock_.monotonic() + account_pause};
}

void Sender::note_account_goes_on() {
    const std::lock_guard lock{mutex_};
    account_waits_.reset();
}

// Whoever is behind a nonce that has not left could not find out anything.
const char* Sender::why_account_waits(std::uint64_t nonce) {
    const domain::Monotonic now = clock_.monotonic();
    const std::lock_guard lock{mutex_};
    if (!account_waits_) return nullptr;
    if (now < account_waits_->next_try || !nonces_.may_send(nonce)) return account_waits_->reason;
    account_waits_->next_try = now + account_pause;
    return nullptr;
}

void Sender::finish(const SendingPtr& sending, engine::SendOutcome outcome) {
    assert(!sending->answered);  // or the engine would count the second one as another's
    sending->answered = true;
    const bool lost = std::holds_alternative<engine::Unreachable>(outcome) && !sending->with_node;
    if (lost) nonce_order_.mark_unsent(sending->newest().nonce);
    sending->events.sent(
        {{sending->order.id, std::move(outcome), sending->refused, sending->included}});
    if (!lost) nonce_order_.release();
}

}  // namespace chains::evm
