#include <algorithm>
#include <string>
#include <utility>

#include "base/sanitize.hpp"
#include "chains/evm/own_transactions.hpp"
#include "chains/evm/plan.hpp"
#include "chains/jsonrpc/decode.hpp"
#include "chains/jsonrpc/node_error.hpp"
#include "chains/jsonrpc/reply_class.hpp"

// How our own transactions leave, and what a node's reply makes of them.
namespace chains::evm {

using domain::Milliseconds;

namespace {

// After a signature that could not be had.
constexpr Milliseconds own_signing_pause{15'000};
// How many are signed of one nonce before only time brings more.
constexpr std::size_t own_quick_bumps_max = 4;

}  // namespace

void OwnTransactions::submit(std::uint64_t nonce, const Own& own) {
    if (!nonces_.may_send(nonce)) return;
    nonces_.mark_sent(nonce);
    judge(nonce, own,
          write_.call({"eth_sendRawTransaction",
                       jsonrpc::Json::array({jsonrpc::hex(own.sealed.back().bytes)})}));
    hooks_.left();
}

void OwnTransactions::judge(std::uint64_t nonce, const Own& own, const jsonrpc::Answer& answer) {
    const SendVerdict verdict = verdict_on(answer);
    switch (verdict) {
        case SendVerdict::receipt:
        case SendVerdict::pending:
            note_taken(nonce);
            return;
        case SendVerdict::unknown:
        case SendVerdict::nonce_used:
            return;  // the count says more
        case SendVerdict::underpriced:
            nonces_.mark_unsent(nonce);
            if (own.sealed.size() <= own_quick_bumps_max || is_old(own)) {
                const auto named = jsonrpc::classify(std::get<jsonrpc::NodeError>(answer));
                bump(nonce, own, {named.fee_min, named.tip_min});
                return;
            }
            break;
        default:
            break;
    }
    nonces_.mark_unsent(nonce);
    note_filling(nonce, false);
    if (const auto* error = std::get_if<jsonrpc::NodeError>(&answer)) refused(nonce, own, *error);
}

// What can not pass is cancelled at once, what nobody understands after a span of time; what comes
// on chain decides.
void OwnTransactions::refused(std::uint64_t nonce, const Own& own,
                              const jsonrpc::NodeError& error) {
    if (!own.told_refusal) {
        logger_.write(ports::LogLevel::warning,
                      "own_transaction_refused" +
                          words_of(nonce, own.purpose, own.sealed.back().hash) +
                          " class=" + std::string(name_of(class_on_send(error))) +
                          " error=" + base::log_value(jsonrpc::shortened(error.message)));
    }
    const domain::Monotonic now = clock_.monotonic();
    change(nonce, [now](Own& one) {
        one.told_refusal = true;
        if (!one.refused_since) one.refused_since = now;
    });
    const SendVerdict verdict = verdict_on(jsonrpc::Answer{error});
    const bool can_not_pass =
        verdict == SendVerdict::doomed || verdict == SendVerdict::gas_too_high;
    const Milliseconds patience =
        nonces_.has_larger(nonce) ? options_.refusal_patience_blocking : options_.refusal_patience;
    const bool is_over = verdict == SendVerdict::refused && own.refused_since &&
                         now - *own.refused_since >= patience;
    const bool is_doing_nothing = is_no_op(own.newest, self_of(own));
    if ((can_not_pass || is_over) && !is_doing_nothing) cancel(nonce, own);
}

void OwnTransactions::note_taken(std::uint64_t nonce) {
    change(nonce, [this](Own& one) {
        one.taken = true;
        one.told_refusal = false;
        one.refused_since.reset();
        one.looked = clock_.monotonic();
    });
    note_filling(nonce, true);
}

void OwnTransactions::bump(std::uint64_t nonce, const Own& own, const FeeFloor& floor) {
    const FeeAnswer fees = fees_.current();
    const auto* market = std::get_if<FeeQuote>(&fees);
    if (market == nullptr) return;
    Transaction higher = own.newest;
    const auto first = decode_transaction(own.sealed.front().bytes);
    const auto quote =
        bumped(fees_of(higher), fees_of(first.value_or(higher)), *market, options_.fees, floor);
    if (!quote) return;  // at their cap
    set_fees(higher, *quote);
    sign_again(nonce, own.purpose, higher);
}

// Its nonce is used up by a transaction that does nothing.
void OwnTransactions::cancel(std::uint64_t nonce, const Own& own) {
    sign_again(nonce, Purpose::filler,
               dearer_no_op(own.newest, self_of(own), fees_.current(), options_.fees));
}

void OwnTransactions::sign_again(std::uint64_t nonce, Purpose purpose,
                                 const Transaction& transaction) {
    const domain::Monotonic now = clock_.monotonic();
    bool held = !signer_.known_address();
    change(nonce, [&](Own& one) {
        held = held || one.signing || (one.signing_held_until && now < *one.signing_held_until);
        one.signing = one.signing || !held;
    });
    if (held) return;
    signer_.fetch(transaction, [this, nonce, purpose](SignResult result) {
        if (auto* bytes = std::get_if<domain::Bytes>(&result)) {
            hand_over(purpose, nonce, std::move(*bytes));
            return;
        }
        change(nonce, [this](Own& one) {
            one.signing = false;
            one.signing_held_until = clock_.monotonic() + own_signing_pause;
        });
    });
}

// --- what is said of fillers --------------------------------------------------------------------

void OwnTransactions::expect_fillers(const std::vector<std::uint64_t>& nonces, std::uint64_t left) {
    const std::lock_guard lock{mutex_};
    if (!filling_) filling_ = Filling{nonces.front(), {}, 0, left, false};
    // Others may still be on their way, behind these.
    filling_->first = std::min(filling_->first, nonces.front());
    filling_->open.insert(nonces.begin(), nonces.end());
    filling_->left = left;
}

void OwnTransactions::note_filling(std::uint64_t nonce, bool accepted) {
    const std::lock_guard lock{mutex_};
    if (!filling_ || !filling_->open.contains(nonce)) return;
    if (accepted) {
        filling_->open.erase(nonce);
        ++filling_->count;
        if (!filling_->open.empty()) return;
    } else if (std::exchange(filling_->told_refusal, true)) {
        return;
    }
    logger_.write(ports::LogLevel::warning,
                  "nonce_hole_filled nonce=" + std::to_string(filling_->first) + " accepted=" +
                      (accepted ? "true" : "false") + " count=" + std::to_string(filling_->count) +
                      " left=" + std::to_string(filling_->left + filling_->open.size()));
    if (accepted) filling_.reset();
}

}  // namespace chains::evm
