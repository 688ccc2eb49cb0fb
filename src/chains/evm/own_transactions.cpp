#include "chains/evm/own_transactions.hpp"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>

#include "chains/evm/plan.hpp"
#include "chains/jsonrpc/decode.hpp"
#include "domain/keccak.hpp"

namespace chains::evm {

using domain::Milliseconds;

namespace {

// While something is on its way, and while all of it is in blocks.
constexpr Milliseconds own_look_pause{1'000};
constexpr Milliseconds own_watch_pause{15'000};
// Whoever asked for one waits for it for some minutes.
constexpr std::size_t approvals_max = 16;

}  // namespace

std::string OwnTransactions::words_of(std::uint64_t nonce, Purpose purpose,
                                      const domain::Bytes32& hash) {
    return std::string(" purpose=") + store::name_of(purpose) + " nonce=" + std::to_string(nonce) +
           " hash=0x" + domain::to_hex(hash);
}

OwnTransactions::OwnTransactions(const Options& options, jsonrpc::Node& write, Nonces& nonces,
                                 Fees& fees, Signer& signer, ports::Executor& executor,
                                 const ports::Clock& clock, ports::Logger& logger, Hooks hooks)
    : options_(options),
      write_(write),
      nonces_(nonces),
      fees_(fees),
      signer_(signer),
      executor_(executor),
      clock_(clock),
      logger_(logger),
      hooks_(std::move(hooks)),
      receipts_(options, write) {}

void OwnTransactions::start(engine::GatewayEvents& events, const engine::Resume& resume) {
    assert(events_ == nullptr);
    events_ = &events;
    const std::lock_guard lock{mutex_};
    for (const store::OwnTransaction& own : resume.own) {
        if (take_locked(own)) continue;
        logger_.write(ports::LogLevel::warning,
                      "own_transaction_left_alone" + words_of(own.nonce, own.purpose, own.hash) +
                          " account=" + own.account +
                          " reason=\"it is one of another account or chain\"");
    }
    if (!own_.empty()) plan_locked(Milliseconds{0});
}

bool OwnTransactions::take_locked(const store::OwnTransaction& own) {
    auto transaction = decode_transaction(own.sealed);
    const bool is_ours = transaction && transaction->chain_id == options_.chain_id &&
                         transaction->nonce == own.nonce &&
                         own.account == domain::checksummed(signer_.known_address().value_or(
                                            sender_of(own.sealed).value_or(domain::Address{})));
    if (!is_ours) return false;
    Own& entry = own_[own.nonce];
    entry.sealed.push_back({own.nonce, own.hash, own.sealed, own.at, own.account});
    entry.newest = std::move(*transaction);
    entry.purpose = own.purpose;
    entry.taken = entry.signing = false;
    if (own.purpose == Purpose::approval) {
        approvals_.insert_or_assign(own.nonce, Approval{own.hash, std::nullopt, std::nullopt});
        if (approvals_.size() > approvals_max) {
            const bool is_newest = approvals_.begin()->first == own.nonce;
            approvals_.erase(is_newest ? std::next(approvals_.begin()) : approvals_.begin());
        }
    }
    return true;
}

void OwnTransactions::hand_over(Purpose purpose, std::uint64_t nonce, domain::Bytes bytes,
                                Stored stored) {
    store::OwnTransaction own;
    own.account = domain::checksummed(signer_.known_address().value());
    own.nonce = nonce;
    own.hash = domain::keccak256(bytes);
    own.purpose = purpose;
    own.sealed = std::move(bytes);
    assert(decode_transaction(own.sealed).value().nonce == nonce);
    if (stored) {
        const std::lock_guard lock{mutex_};
        stored_[own.hash] = std::move(stored);
    }
    events_->own_sealed(std::move(own));
}

void OwnTransactions::send(const std::vector<store::OwnTransaction>& all) {
    for (const store::OwnTransaction& own : all) {
        Stored stored;
        {
            const std::lock_guard lock{mutex_};
            const bool is_ours = take_locked(own);
            assert(is_ours);
            static_cast<void>(is_ours);
            if (auto found = stored_.extract(own.hash)) stored = std::move(found.mapped());
            plan_locked(Milliseconds{0});
        }
        if (stored) stored(own);
    }
}

std::optional<std::uint64_t> OwnTransactions::smallest_filler_on_its_way() const {
    const std::lock_guard lock{mutex_};
    const auto filler = std::ranges::find_if(own_, [](const auto& entry) {
        return entry.second.purpose == Purpose::filler && !entry.second.receipt;
    });
    return filler == own_.end() ? std::nullopt : std::optional{filler->first};
}

std::map<std::uint64_t, OwnTransactions::Approval> OwnTransactions::approvals() const {
    const std::lock_guard lock{mutex_};
    return approvals_;
}

std::optional<OwnTransactions::Own> OwnTransactions::copy(std::uint64_t nonce) const {
    const std::lock_guard lock{mutex_};
    const auto found = own_.find(nonce);
    return found == own_.end() ? std::nullopt : std::optional{found->second};
}

void OwnTransactions::change(std::uint64_t nonce, const std::function<void(Own&)>& change) {
    const std::lock_guard lock{mutex_};
    const auto found = own_.find(nonce);
    if (found != own_.end()) change(found->second);
}

// While the signer is out of reach after a start, the bytes say whose they are.
domain::Address OwnTransactions::self_of(const Own& own) const {
    const auto known = signer_.known_address();
    return known ? *known : sender_of(own.sealed.back().bytes).value_or(domain::Address{});
}

bool OwnTransactions::is_old(const Own& own) const {
    return evm::is_old(clock_, own.sealed.back().at, options_.fees);
}

// --- what became of it --------------------------------------------------------------------------

void OwnTransactions::plan_locked(Milliseconds pause) {
    const domain::Monotonic planned = clock_.monotonic() + pause;
    if (next_look_ && *next_look_ <= planned) return;
    next_look_ = planned;
    executor_.run_after(pause, [this, planned] { look(planned); });
}

void OwnTransactions::look(domain::Monotonic planned) {
    const std::lock_guard one_at_a_time{looks_};
    std::vector<std::uint64_t> nonces;
    {
        const std::lock_guard lock{mutex_};
        if (next_look_ != planned) return;  // an earlier one was planned
        next_look_.reset();
        for (const auto& [nonce, own] : own_) nonces.push_back(nonce);
    }
    if (hooks_.on_right_chain()) {
        if (const auto count = hooks_.count()) {
            for (const std::uint64_t nonce : nonces) look_at(nonce, *count);
        }
    }
    const std::lock_guard lock{mutex_};
    if (own_.empty()) return;
    const bool all_in_blocks = std::ranges::all_of(
        own_, [](const auto& entry) { return entry.second.receipt.has_value(); });
    plan_locked(all_in_blocks ? own_watch_pause : own_look_pause);
}

void OwnTransactions::look_at(std::uint64_t nonce, std::uint64_t count) {
    const auto own = copy(nonce);
    if (!own) return;
    const domain::Monotonic now = clock_.monotonic();
    const bool is_due = now - own->looked >= own_watch_pause;
    if (own->receipt) {
        if (is_due) look_whether_it_stands(nonce, *own);
    } else if (nonce < count) {
        look_for_receipt(nonce, *own);
    } else if (own->signing || (own->taken && nonce > count && !is_due)) {
        // Its turn comes.
    } else if (own->taken && receipts_.knows_any(own->sealed)) {
        change(nonce, [now](Own& one) { one.looked = now; });
        if (nonce == count && is_old(*own)) bump(nonce, *own);
    } else {
        submit(nonce, *own);
    }
}

void OwnTransactions::look_for_receipt(std::uint64_t nonce, const Own& own) {
    const Receipts::Found found = receipts_.find(own.sealed);
    if (const auto* receipt = std::get_if<TransactionReceipt>(&found)) {
        note_included(nonce, own, *receipt);
        return;
    }
    if (!std::holds_alternative<Receipts::NotIncluded>(found)) return;
    const domain::Monotonic now = clock_.monotonic();
    if (!own.used_since) {
        change(nonce, [now](Own& one) { one.used_since = now; });
    } else if (now - *own.used_since >= options_.foreign_use_patience &&
               !receipts_.knows_any(own.sealed)) {
        note_lost(nonce, own);
    }
}

void OwnTransactions::note_included(std::uint64_t nonce, const Own& own,
                                    const TransactionReceipt& receipt) {
    nonces_.included(nonce, {receipt.block_number, receipt.block_hash});
    const auto fate = receipt.succeeded ? store::OwnFate::included : store::OwnFate::reverted;
    const auto sealed = std::ranges::find(own.sealed, receipt.hash, &engine::Sealed::hash);
    assert(sealed != own.sealed.end());
    const auto transaction = decode_transaction(sealed->bytes);
    const bool does_nothing = transaction && is_no_op(*transaction, self_of(own));
    change(nonce, [&](Own& one) {
        one.receipt = receipt;
        one.receipt->logs.clear();
        one.used_since.reset();
        one.looked = clock_.monotonic();
        const auto approval = approvals_.find(nonce);
        if (approval == approvals_.end()) return;
        approval->second = {does_nothing ? approval->second.hash : receipt.hash,
                            does_nothing ? store::OwnFate::replaced : fate, receipt.block_number};
    });
    note_filling(nonce, true);
    logger_.write(ports::LogLevel::info, "own_transaction_included" +
                                             words_of(nonce, own.purpose, receipt.hash) +
                                             " block=" + std::to_string(receipt.block_number) +
                                             (receipt.succeeded ? "" : " reverted=true"));
    hooks_.left();
    if (options_.listening.reorg_depth == 0) settle(nonce, own, receipt.hash, fate);
}

void OwnTransactions::look_whether_it_stands(std::uint64_t nonce, const Own& own) {
    const Receipts::Found found = receipts_.find(own.sealed);
    if (std::holds_alternative<Receipts::NotIncluded>(found)) {
        logger_.write(ports::LogLevel::warning,
                      "own_transaction_reorganised" +
                          words_of(nonce, own.purpose, own.receipt->hash) +
                          " action=\"it is sent again\"");
        nonces_.hold(nonce);
        nonces_.mark_unsent(nonce);
        change(nonce, [this, nonce](Own& one) {
            one.receipt.reset();
            one.taken = false;
            const auto approval = approvals_.find(nonce);
            if (approval == approvals_.end()) return;
            approval->second.fate.reset();
            approval->second.block.reset();
        });
        return;
    }
    const auto* receipt = std::get_if<TransactionReceipt>(&found);
    if (receipt == nullptr) return;
    if (receipt->block_hash != own.receipt->block_hash) {
        note_included(nonce, own, *receipt);
        return;
    }
    change(nonce, [this](Own& one) { one.looked = clock_.monotonic(); });
    const auto answer = write_.call({"eth_blockNumber", jsonrpc::Json::array()});
    const auto* result = std::get_if<jsonrpc::Json>(&answer);
    const auto head = result != nullptr ? jsonrpc::quantity(*result) : std::nullopt;
    if (head && *head >= receipt->block_number + options_.listening.reorg_depth) {
        settle(nonce, own, receipt->hash,
               receipt->succeeded ? store::OwnFate::included : store::OwnFate::reverted);
    }
}

void OwnTransactions::note_lost(std::uint64_t nonce, const Own& own) {
    nonces_.used(nonce);
    logger_.write(ports::LogLevel::warning,
                  "foreign_nonce_use alert=true" +
                      words_of(nonce, own.purpose, own.sealed.back().hash) +
                      " hint=\"another program uses the relayer's key; give it one of its own\"");
    {
        const std::lock_guard lock{mutex_};
        const auto approval = approvals_.find(nonce);
        if (approval != approvals_.end()) approval->second.fate = store::OwnFate::replaced;
    }
    settle(nonce, own, std::nullopt, store::OwnFate::replaced);
}

void OwnTransactions::settle(std::uint64_t nonce, const Own& own,
                             const std::optional<domain::Bytes32>& hash, store::OwnFate fate) {
    nonces_.release(nonce);
    {
        const std::lock_guard lock{mutex_};
        own_.erase(nonce);
        // Somebody else used its nonce: nothing of it is told as filled.
        if (filling_ && filling_->open.erase(nonce) > 0 && filling_->open.empty()) filling_.reset();
    }
    events_->own_settled({own.sealed.back().account, nonce, hash, fate});
    hooks_.left();
}

}  // namespace chains::evm
