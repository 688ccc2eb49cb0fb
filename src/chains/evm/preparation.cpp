#include "chains/evm/preparation.hpp"

#include <algorithm>
#include <cassert>
#include <set>
#include <string>
#include <utility>

#include "chains/evm/calls.hpp"
#include "chains/evm/eth_call.hpp"
#include "chains/evm/plan.hpp"
#include "chains/evm/revert.hpp"
#include "chains/evm/unreachable.hpp"
#include "chains/jsonrpc/decode.hpp"
#include "chains/jsonrpc/node_error.hpp"
#include "chains/jsonrpc/reply_class.hpp"
#include "domain/keccak.hpp"

namespace chains::evm {

namespace {

constexpr std::size_t workers_max = 4;
// Tries of an estimation that a node refuses for no reason we know (field report 37), and how long
// one goes on whose node says that itself has failed (field report 80).
constexpr std::uint32_t unknown_tries_max = 5;
constexpr domain::Milliseconds internal_error_patience = std::chrono::minutes{2};

// Requests whose refusals are counted; beyond that the oldest begin anew.
constexpr std::size_t refusals_kept_max = 10'000;

// How far the clock of the chain's blocks may be behind.
constexpr domain::Milliseconds block_time_patience{60'000};

domain::Failure rpc_error(const std::string& message) {
    return {domain::Reason::rpc_error, "RPC error: " + message, {}};
}

domain::Failure never_taken(const std::string& message) {
    return rpc_error("too large for a block: " + message);
}

// Where there are several accounts each of them is asked for its balance as well.
std::size_t orders_max(const Options& options, const SigningAccounts& accounts) {
    const std::size_t balances = accounts.is_alone() ? 0 : accounts.size();
    return options.batch_max > balances ? options.batch_max - balances : 1;
}

}  // namespace

Preparation::Preparation(const Options& options, jsonrpc::Node& write, jsonrpc::Node& read,
                         SigningAccounts& accounts, Fees& fees, GasLimits& gas,
                         engine::TaskGroup& task_group, const ports::Clock& clock)
    : options_(options),
      write_(write),
      read_(read),
      accounts_(accounts),
      fees_(fees),
      gas_(gas),
      clock_(clock),
      line_(task_group, orders_max(options, accounts), workers_max,
            [this](const Orders& orders) { work(orders); }) {}

void Preparation::prepare(Orders orders, engine::GatewayEvents& events) {
    events_ = &events;
    line_.add(std::move(orders));
}

// Each time around one account less can take what is left.
void Preparation::work(const Orders& orders) {
    std::vector<engine::Prepared> outcomes;
    Orders left = orders;
    for (std::size_t i = 0; i <= accounts_.size() && !left.empty(); ++i) {
        left = work(left, outcomes);
    }
    for (const engine::PrepareOrder& order : left) {
        outcomes.push_back({order.id, engine::Unreachable{"no account can take it now"}});
    }
    events_.load()->prepared(std::move(outcomes));
}

Preparation::Orders Preparation::work(const Orders& orders,
                                      std::vector<engine::Prepared>& outcomes) {
    const auto all = [&](const engine::PrepareOutcome& outcome) {
        for (const engine::PrepareOrder& order : orders) outcomes.push_back({order.id, outcome});
    };
    const auto picked = accounts_.pick(orders.size());
    if (const auto* unready = std::get_if<engine::Unreachable>(&picked)) {
        all(*unready);
        return {};
    }
    const auto& accounts = std::get<SigningAccounts::Picked>(picked);
    for (SigningAccount* account :
         std::set<SigningAccount*, ByPlace>(accounts.begin(), accounts.end())) {
        if (const auto unknown = learn_count(*account)) {
            all(*unknown);
            return {};
        }
    }
    const FeeAnswer fees = fees_.current();
    if (const auto* problem = std::get_if<jsonrpc::TransportError>(&fees)) {
        all(unreachable(*problem, "asking for fees"));
        return {};
    }
    return estimate(questions_about(orders, accounts, std::get<FeeQuote>(fees), outcomes),
                    outcomes);
}

// With nothing of ours in flight somebody else may have sent with our key, and one look is cheaper
// than a nonce that is used.
std::optional<engine::Unreachable> Preparation::learn_count(SigningAccount& account) {
    const bool was_known = account.nonces().known();
    if (was_known && account.nonces().held() > 0) return std::nullopt;
    auto answer = account.account().ask_count();
    auto* unknown = std::get_if<engine::Unreachable>(&answer);
    if (unknown == nullptr || was_known) return std::nullopt;
    return std::move(*unknown);
}

std::optional<engine::PrepareOutcome> Preparation::find_code(const domain::Address& contract) {
    {
        const std::lock_guard lock{mutex_};
        if (with_code_.contains(contract)) return std::nullopt;
    }
    const auto answer = write_.call({"eth_getCode", {jsonrpc::hex(contract), "latest"}});
    if (const auto* problem = std::get_if<jsonrpc::TransportError>(&answer)) {
        return unreachable(*problem, "asking for the contract's code");
    }
    const auto* result = std::get_if<jsonrpc::Json>(&answer);
    const auto code = result != nullptr ? jsonrpc::bytes(*result) : std::nullopt;
    if (!code) return engine::Unreachable{"the node does not tell the contract's code"};
    if (code->empty()) {
        return engine::Rejected{{domain::Reason::no_contract_code,
                                 "Invalid contract address: No code at target address: " +
                                     domain::checksummed(contract),
                                 {}}};
    }
    const std::lock_guard lock{mutex_};
    with_code_.insert(contract);
    return std::nullopt;
}

std::vector<Preparation::Question> Preparation::questions_about(
    const Orders& orders, const SigningAccounts::Picked& accounts, const FeeQuote& quote,
    std::vector<engine::Prepared>& outcomes) {
    std::vector<Question> questions;
    for (std::size_t i = 0; i < orders.size(); ++i) {
        const engine::PrepareOrder& order = orders[i];
        Transaction draft;
        draft.chain_id = options_.chain_id;
        set_fees(draft, quote);
        draft.to = target_of(*order.request);
        if (auto unfit = find_code(draft.to)) {
            outcomes.push_back({order.id, std::move(*unfit)});
            continue;
        }
        draft.data = request_call(*order.request);
        questions.push_back({&order, accounts[i], std::move(draft)});
    }
    return questions;
}

Preparation::Orders Preparation::estimate(std::vector<Question> questions,
                                          std::vector<engine::Prepared>& outcomes) {
    if (questions.empty()) return {};
    std::vector<jsonrpc::Call> calls;
    for (const Question& question : questions) {
        const auto self = question.account->signer().known_address();
        assert(self);  // or the count would not be known
        jsonrpc::Json call{{"from", jsonrpc::hex(*self)},
                           {"to", jsonrpc::hex(question.draft.to)},
                           {"value", "0x0"}};
        set_calldata(call, question.draft.data);
        calls.push_back({"eth_estimateGas", jsonrpc::Json::array({std::move(call), "latest"})});
    }
    Purses purses = purses_of(questions);
    for (const auto& [account, purse] : purses) {
        calls.push_back({"eth_getBalance", jsonrpc::Json::array({account->address(), "latest"})});
    }
    const std::vector<jsonrpc::Answer> answers = ask(std::move(calls));
    auto balance = answers.begin() + static_cast<std::ptrdiff_t>(questions.size());
    for (auto& [account, purse] : purses) {
        const auto* said = std::get_if<jsonrpc::Json>(&*balance++);
        if (said != nullptr) purse.balance = jsonrpc::wei(*said);
    }
    Orders left;
    for (std::size_t i = 0; i < questions.size(); ++i) {
        Question& question = questions[i];
        auto outcome = outcome_of(answers[i], question);
        const bool waits = outcome && std::holds_alternative<engine::Unreachable>(*outcome);
        const bool is_its_account = outcome ? waits && question.account->unusable()
                                            : !can_pay(question, purses[question.account]);
        if (is_its_account && !accounts_.is_alone()) {
            left.push_back(*question.order);
            continue;
        }
        outcomes.push_back({question.order->id, outcome ? *std::move(outcome) : plan(question)});
        const auto* wait = std::get_if<engine::Unreachable>(&outcomes.back().outcome);
        if (wait == nullptr || wait->tries_max != 0) forget_refusals(question.order->id);
    }
    return left;
}

engine::Plan Preparation::plan(Question& question) {
    question.account->permitted();
    return plan_of({std::move(question.draft), false, question.account->place().index});
}

// A request that has a nonce waits for its account, so where there are others none is given to one
// that can not pay. Nobody else could: then nobody is asked.
Preparation::Purses Preparation::purses_of(const std::vector<Question>& questions) const {
    Purses purses;
    if (accounts_.is_alone()) return purses;
    for (const Question& question : questions) {
        purses[question.account].transactions = question.account->nonces().held();
    }
    return purses;
}

// Pools want the account to have enough for all that waits in them.
bool Preparation::can_pay(const Question& question, Purse& purse) {
    const jsonrpc::Wei max_fee = std::max<jsonrpc::Wei>(question.draft.max_fee, 1);
    const std::uint64_t gas = std::max<std::uint64_t>(question.draft.gas_limit, 1);
    if (!purse.balance || *purse.balance / max_fee / gas > purse.transactions) {
        ++purse.transactions;
        return true;
    }
    question.account->refused(*purse.balance / max_fee / gas == 0
                                  ? SigningAccount::Refusal::no_funds
                                  : SigningAccount::Refusal::no_more_funds);
    return false;
}

// Our requests do not depend on what waits in the pool, so the latest block is enough; some nodes
// serve only the pending one.
std::vector<jsonrpc::Answer> Preparation::ask(std::vector<jsonrpc::Call> calls) {
    std::vector<jsonrpc::Answer> answers = read_.call_all(calls);
    std::vector<jsonrpc::Call> again;
    for (std::size_t i = 0; i < calls.size(); ++i) {
        if (!lacks_block(answers[i])) continue;
        again.push_back(std::move(calls[i]));
        again.back().params[1] = "pending";
    }
    if (again.empty()) return answers;
    std::vector<jsonrpc::Answer> pending = read_.call_all(again);
    auto next = pending.begin();
    for (jsonrpc::Answer& answer : answers) {
        if (lacks_block(answer)) answer = std::move(*next++);
    }
    return answers;
}

bool Preparation::is_last_refusal(const domain::RequestId& id, const Patience& patience) {
    const domain::Monotonic now = clock_.monotonic();
    const std::lock_guard lock{mutex_};
    if (refusals_.size() >= refusals_kept_max) refusals_.erase(refusals_.begin());
    Refusals& before = refusals_.try_emplace(id.sequence, Refusals{0, now}).first->second;
    ++before.tries;
    if (patience.tries_max != 0) return before.tries >= patience.tries_max;
    return now - before.since >= patience.time_max;
}

engine::PrepareOutcome Preparation::refused_for_now(const domain::RequestId& id, const char* reason,
                                                    const Patience& patience,
                                                    domain::Failure verdict) {
    const bool last = is_last_refusal(id, patience);
    return engine::Unreachable{reason, std::move(verdict), last ? 1U : 0U};
}

void Preparation::forget_refusals(const domain::RequestId& id) {
    const std::lock_guard lock{mutex_};
    refusals_.erase(id.sequence);
}

std::optional<engine::PrepareOutcome> Preparation::outcome_of(const jsonrpc::Answer& estimate,
                                                              Question& question) {
    if (const auto* problem = std::get_if<jsonrpc::TransportError>(&estimate)) {
        return unreachable(*problem, "estimating gas");
    }
    if (const auto* error = std::get_if<jsonrpc::NodeError>(&estimate)) {
        return refused(*error, question);
    }
    const auto gas = jsonrpc::quantity(std::get<jsonrpc::Json>(estimate));
    const auto limit = gas ? gas_.limit_for(*gas, question.draft.data.size()) : std::nullopt;
    // Some nodes estimate beyond what a block holds.
    if (limit && gas_.exceeds_block(*gas)) {
        return engine::Rejected{
            never_taken("it needs " + std::to_string(*gas) + " gas, more than a block has")};
    }
    if (!limit) return engine::Unreachable{"the node's gas estimate can not be read"};
    question.draft.gas_limit = *limit;
    return std::nullopt;
}

// The table of 5.4; trouble on the way is above.
engine::PrepareOutcome Preparation::refused(const jsonrpc::NodeError& error,
                                            const Question& question) {
    using enum jsonrpc::ReplyClass;
    const domain::RequestId& id = question.order->id;
    const jsonrpc::ReplyMeaning meaning = jsonrpc::classify(error);
    switch (meaning.reply_class) {
        case reverted: {
            domain::Failure failure = evm::reverted(error);
            // A node that lags behind the one that said the ciphertext is there.
            if (failure.selector == ciphertext_material_not_found) {
                return refused_for_now(id, "the ciphertext is not on chain yet",
                                       {options_.estimation_attempts_max, {}}, std::move(failure));
            }
            // The client's clock was right, that of the blocks is slow (5.4).
            if (failure.selector == start_timestamp_in_future) {
                return refused_for_now(id, "the request begins after the latest block",
                                       {0, block_time_patience}, std::move(failure));
            }
            return engine::Rejected{std::move(failure)};
        }
        // No block will ever take it.
        case gas_too_high:
        case too_large:
            return engine::Rejected{never_taken(error.message)};
        case balance_too_low:
            question.account->refused(SigningAccount::Refusal::no_funds);
            return engine::Unreachable{no_funds_text, {}, 0, no_funds_hold};
        // These pass, and are no tries.
        case throttled:
        case front_door:
        case pool_busy:
        case one_in_flight:
        case timed_out:
        case block_tag_not_served:
        case not_indexed_yet:
        case nonce_gap:
        case nonce_too_low:
            return engine::Unreachable{
                "the node can not estimate now: " + jsonrpc::shortened(error.message),
                {},
                0,
                meaning.wait.value_or(domain::Milliseconds{0})};
        case sender_forbidden:
            question.account->refused(SigningAccount::Refusal::forbidden);
            return engine::Unreachable{forbidden_text, {}, 0, no_funds_hold};
        default:
            break;
    }
    const Patience patience = jsonrpc::is_internal_error(error)
                                  ? Patience{0, internal_error_patience}
                                  : Patience{unknown_tries_max, {}};
    return refused_for_now(id, "the node refuses to estimate", patience, rpc_error(error.message));
}

domain::Address Preparation::target_of(const domain::Request& request) const {
    return domain::kind_of(request) == domain::Kind::input_proof ? options_.input_verification
                                                                 : options_.decryption;
}

}  // namespace chains::evm
