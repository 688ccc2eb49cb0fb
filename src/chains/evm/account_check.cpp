#include "chains/evm/account_check.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "base/sanitize.hpp"
#include "chains/evm/log_query.hpp"
#include "chains/evm/readiness_outcomes.hpp"
#include "chains/evm/topics.hpp"
#include "chains/jsonrpc/decode.hpp"
#include "domain/keccak.hpp"

namespace chains::evm {

using jsonrpc::Json;

namespace {

constexpr domain::Milliseconds look_pause{2'000};
// Of one block, before what can not be known counts as the worse.
constexpr std::uint32_t refusals_max = 5;

constexpr std::array request_topics{
    topic::verify_proof_request,           topic::public_decryption_request_old,
    topic::public_decryption_request,      topic::user_decryption_request_old,
    topic::user_decryption_request,        topic::unified_user_decryption_request_old,
    topic::unified_user_decryption_request};

}  // namespace

AccountCheck::AccountCheck(const Options& options, jsonrpc::Node& read, engine::TaskGroup& reads,
                           ports::Logger& logger)
    : options_(options),
      read_(read),
      reads_(reads),
      logger_(logger),
      range_size_(options.listening.range_max) {}

void AccountCheck::start(engine::GatewayEvents& events, const engine::Resume& resume,
                         bool retired) {
    assert(events_ == nullptr);
    events_ = &events;
    retired_ = retired;
    all_known_ = resume.nonces;
    for (const engine::Sealed& sealed : resume.in_flight) {
        nonces_.push_back({sealed.account, sealed.nonce, sealed.hash});
    }
    for (const engine::Sealed& sealed : resume.beside_own) {
        beside_own_.push_back({sealed.account, sealed.nonce, sealed.hash});
    }
    for (const store::UsedNonce& used : resume.used) {
        nonces_.push_back({used.account, used.nonce, std::nullopt});
    }
    next_ = resume.look_from;
    may_be_new_ = resume.has_unsigned && next_;
}

std::optional<engine::Unreachable> AccountCheck::unready() const {
    const std::lock_guard lock{mutex_};
    const bool may_be_ahead =
        state_ == State::waiting ? may_be_new_ || !all_known_.empty() : known_.has_value();
    if (state_ == State::settled || !may_be_ahead) return std::nullopt;
    return engine::unreached(state_ == State::waiting
                                 ? "no node has told the count of the account yet"
                                 : "the chain is ahead of the database: looking why");
}

void AccountCheck::found(const domain::Address& account, std::uint64_t count) {
    {
        const std::lock_guard lock{mutex_};
        if (state_ != State::waiting || events_ == nullptr) return;
        state_ = State::looking;
        count_ = count;
        account_ = account;
        find_known();
    }
    const bool may_be_replaced = !signed_.empty() && signed_.begin()->first < count;
    if (!known_ || (count <= *known_ && !may_be_replaced)) {
        settle(false);
    } else {
        reads_.run([this] { look(); });
    }
}

void AccountCheck::find_known() {
    const std::string account = domain::checksummed(account_);
    // A database from before nonces were kept has these all the same.
    std::uint64_t at_least = 0;
    for (const Nonce& nonce : nonces_) {
        if (!nonce.account.empty() && nonce.account != account) continue;
        at_least = std::max(at_least, nonce.number + 1);
        if (nonce.hash) signed_[nonce.number].insert(*nonce.hash);
    }
    for (const Nonce& nonce : beside_own_) {
        const auto waiting = signed_.find(nonce.number);
        if (nonce.account == account && waiting != signed_.end())
            waiting->second.insert(*nonce.hash);
    }
    const auto known = all_known_.find(account);
    if (known != all_known_.end()) {
        known_ = known->second;
    } else if (may_be_new_) {
        known_ = at_least;
    }
}

bool AccountCheck::is_waiting() const {
    const std::lock_guard lock{mutex_};
    return state_ == State::waiting;
}

// One range after the other, so that nobody else waits long for the thread.
void AccountCheck::look() {
    const std::optional<bool> asked_us = find_head() ? look_at_range() : std::nullopt;
    if (asked_us) {
        settle(*asked_us);
    } else if (problem_) {
        logger_.write(ports::LogLevel::warning,
                      "account_check_waits action=\"nothing is signed before\" error=" +
                          base::log_value(*std::exchange(problem_, std::nullopt)));
        reads_.run_after(look_pause, [this] { look(); });
    } else {
        reads_.run([this] { look(); });
    }
}

bool AccountCheck::find_head() {
    if (head_) return true;
    const auto answer = read_.call({"eth_blockNumber", Json::array()});
    const auto* result = std::get_if<Json>(&answer);
    head_ = result != nullptr ? jsonrpc::quantity(*result) : std::nullopt;
    if (!head_) problem_ = "no node tells the newest block";
    return head_.has_value();
}

std::optional<bool> AccountCheck::look_at_range() {
    // Without a cursor nobody ever listened, and the copy is older than any of its requests.
    if (!next_) return true;
    if (*next_ > *head_) return false;
    const std::uint64_t to = std::min(*head_, *next_ + range_size_.blocks() - 1);
    const std::uint64_t blocks = to - *next_ + 1;
    const auto answer = with_passing_as_trouble(read_.call(
        logs_call({*next_, to, options_.decryption, options_.input_verification}, request_topics)));
    if (const auto* logs = std::get_if<Json>(&answer); logs != nullptr && logs->is_array()) {
        const std::optional<bool> asked_us = look_at(*logs);
        if (!asked_us || *asked_us) return asked_us;
        range_size_.answered(blocks);
        refusals_ = 0;
        next_ = to + 1;
        return *next_ > *head_ ? std::optional{false} : std::nullopt;
    }
    const auto* error = std::get_if<jsonrpc::NodeError>(&answer);
    const auto* trouble = std::get_if<jsonrpc::TransportError>(&answer);
    problem_ = error != nullptr     ? error->message
               : trouble != nullptr ? trouble->text
                                    : "no logs of the requests";
    range_size_.refused(blocks);
    if (error == nullptr || blocks > 1 || ++refusals_ < refusals_max) return std::nullopt;
    logger_.write(ports::LogLevel::warning,
                  "account_check_blind action=\"counts as sent by another process\" error=" +
                      base::log_value(*problem_));
    return true;
}

std::optional<bool> AccountCheck::look_at(const Json& logs) {
    std::set<std::string> hashes;
    for (const Json& log : logs) {
        if (const auto hash = jsonrpc::bytes32(jsonrpc::member(log, "transactionHash"))) {
            hashes.insert(jsonrpc::hex(*hash));
        }
    }
    const std::size_t batch = std::max<std::size_t>(options_.batch_max, 1);
    std::vector<jsonrpc::Call> calls;
    for (auto hash = hashes.begin(); hash != hashes.end();) {
        calls.push_back({"eth_getTransactionByHash", Json::array({*hash})});
        if (++hash != hashes.end() && calls.size() < batch) continue;
        for (const jsonrpc::Answer& answer : read_.call_all(std::exchange(calls, {}))) {
            const auto* transaction = std::get_if<Json>(&answer);
            if (transaction == nullptr || !transaction->is_object()) {
                problem_ = "a transaction of a request is not told";
                return std::nullopt;
            }
            if (is_unknown(*transaction)) return true;
        }
    }
    return false;
}

bool AccountCheck::is_unknown(const Json& transaction) const {
    const auto from = jsonrpc::bytes(jsonrpc::member(transaction, "from"));
    const auto nonce = jsonrpc::quantity(jsonrpc::member(transaction, "nonce"));
    const auto hash = jsonrpc::bytes32(jsonrpc::member(transaction, "hash"));
    if (!from || !nonce || !hash || !std::ranges::equal(*from, account_)) return false;
    const auto ours = signed_.find(*nonce);
    return *nonce >= *known_ || (ours != signed_.end() && !ours->second.contains(*hash));
}

void AccountCheck::settle(bool sent_by_others) {
    // Before anything is signed again: it stands before every plan in the inbox.
    events_->account_found({domain::checksummed(account_), count_, sent_by_others, retired_});
    const std::lock_guard lock{mutex_};
    state_ = State::settled;
}

}  // namespace chains::evm
