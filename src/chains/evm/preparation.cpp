#include "chains/evm/preparation.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "domain/keccak.hpp"
#include "chains/evm/calls.hpp"
#include "chains/evm/plan.hpp"
#include "chains/evm/revert.hpp"
#include "chains/evm/send_verdict.hpp"
#include "chains/evm/troubles.hpp"
#include "chains/jsonrpc/decode.hpp"

namespace chains::evm {

namespace {

constexpr std::size_t workers_max = 4;
// Tries of an estimation that a node refuses for no reason we know (field report 37).
constexpr std::uint32_t unknown_tries_max = 5;

// gas limit = estimate * 1.2, rounded down (5.3).
std::optional<std::uint64_t> gas_limit_of(std::uint64_t estimate) {
    constexpr std::uint64_t estimate_max = 1ULL << 50U;
    if (estimate == 0 || estimate > estimate_max) return std::nullopt;
    return estimate * 12 / 10;
}

}  // namespace

Preparation::Preparation(const EvmOptions& options, jsonrpc::Node& write, jsonrpc::Node& read,
                         Nonces& nonces, Fees& fees, const domain::Address& signer,
                         Errands& errands, const engine::Clock& clock, engine::Journal& journal)
    : options_(options),
      write_(write),
      read_(read),
      nonces_(nonces),
      fees_(fees),
      signer_(signer),
      clock_(clock),
      journal_(journal),
      line_(errands, options.batch_max, workers_max,
            [this](const Orders& orders) { work(orders); }) {}

void Preparation::prepare(Orders orders, engine::GatewayEvents& events) {
    events_ = &events;
    line_.add(std::move(orders));
}

void Preparation::work(const Orders& orders) {
    std::vector<engine::Prepared> outcomes;
    const auto all = [&](const engine::PrepareOutcome& outcome) {
        for (const engine::PrepareOrder& order : orders) outcomes.push_back({order.id, outcome});
    };
    if (const auto unknown = find_nonce()) {
        all(*unknown);
    } else {
        const FeeAnswer fees = fees_.current();
        if (const auto* trouble = std::get_if<jsonrpc::Trouble>(&fees)) {
            all(unreachable(*trouble, "asking for fees"));
        } else {
            estimate(orders, std::get<FeeQuote>(fees), outcomes);
        }
    }
    events_.load()->prepared(std::move(outcomes));
}

std::optional<engine::Unreachable> Preparation::find_nonce() {
    if (nonces_.known()) return std::nullopt;
    const auto answer = write_.call({"eth_getTransactionCount", {jsonrpc::hex(signer_), "latest"}});
    if (const auto* trouble = std::get_if<jsonrpc::Trouble>(&answer)) {
        return unreachable(*trouble, "asking for the nonce");
    }
    const auto* result = std::get_if<jsonrpc::Json>(&answer);
    const auto count = result != nullptr ? jsonrpc::quantity(*result) : std::nullopt;
    constexpr std::uint64_t nonce_max = 1ULL << 62U;
    if (!count || *count > nonce_max) {
        return engine::Unreachable{"the node does not tell the nonce of the account"};
    }
    static_cast<void>(nonces_.observe(*count, clock_.monotonic()));
    return std::nullopt;
}

std::optional<engine::PrepareOutcome> Preparation::find_code(const domain::Address& contract) {
    {
        const std::lock_guard lock{mutex_};
        if (with_code_.contains(contract)) return std::nullopt;
    }
    const auto answer = write_.call({"eth_getCode", {jsonrpc::hex(contract), "latest"}});
    if (const auto* trouble = std::get_if<jsonrpc::Trouble>(&answer)) {
        return unreachable(*trouble, "asking for the contract's code");
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

void Preparation::estimate(const Orders& orders, const FeeQuote& quote,
                           std::vector<engine::Prepared>& outcomes) {
    std::vector<jsonrpc::Call> calls;
    std::vector<std::pair<domain::RequestId, Transaction>> drafts;
    for (const engine::PrepareOrder& order : orders) {
        Transaction draft;
        draft.chain_id = options_.chain_id;
        draft.legacy = quote.legacy;
        draft.priority_fee = quote.priority_fee;
        draft.max_fee = quote.max_fee;
        draft.to = target_of(*order.request);
        if (auto unfit = find_code(draft.to)) {
            outcomes.push_back({order.id, std::move(*unfit)});
            continue;
        }
        draft.data = request_call(*order.request);
        calls.push_back({"eth_estimateGas",
                         {{{"from", jsonrpc::hex(signer_)},
                           {"to", jsonrpc::hex(draft.to)},
                           {"input", jsonrpc::hex(draft.data)},
                           {"value", "0x0"}},
                          "pending"}});
        drafts.emplace_back(order.id, std::move(draft));
    }
    if (calls.empty()) return;
    const std::vector<jsonrpc::Answer> answers = read_.call_all(calls);
    for (std::size_t i = 0; i < drafts.size(); ++i) {
        outcomes.push_back({drafts[i].first, outcome_of(answers[i], std::move(drafts[i].second))});
    }
}

engine::PrepareOutcome Preparation::outcome_of(const jsonrpc::Answer& estimate, Transaction draft) {
    if (const auto* trouble = std::get_if<jsonrpc::Trouble>(&estimate)) {
        return unreachable(*trouble, "estimating gas");
    }
    if (const auto* error = std::get_if<jsonrpc::NodeError>(&estimate)) return refused(*error);
    const auto gas = jsonrpc::quantity(std::get<jsonrpc::Json>(estimate));
    const auto limit = gas ? gas_limit_of(*gas) : std::nullopt;
    if (!limit) return engine::Unreachable{"the node's gas estimate can not be read"};
    if (lacks_funds_.exchange(false)) {
        journal_.write(engine::Level::info, "insufficient_funds_recovered");
    }
    draft.gas_limit = *limit;
    return plan_of({std::move(draft), false});
}

// The table of 5.4; trouble on the way is above.
engine::PrepareOutcome Preparation::refused(const jsonrpc::NodeError& error) {
    if (is_revert(error)) {
        const domain::Failure failure = reverted(error);
        if (failure.selector != ciphertext_material_not_found) return engine::Rejected{failure};
        // A node that lags behind the one that said the ciphertext is there.
        return engine::Unreachable{"the ciphertext is not on chain yet", failure,
                                   options_.estimation_attempts_max};
    }
    if (means_no_funds(error.message)) {
        if (!lacks_funds_.exchange(true)) journal_.write(engine::Level::error, no_funds_line);
        return engine::Unreachable{no_funds_text, {}, 0, no_funds_hold};
    }
    return engine::Unreachable{
        "the node refuses to estimate",
        domain::Failure{domain::Reason::rpc_error, "RPC error: " + error.message, {}},
        unknown_tries_max};
}

domain::Address Preparation::target_of(const domain::Request& request) const {
    return domain::kind_of(request) == domain::Kind::input_proof ? options_.input_verification
                                                                 : options_.decryption;
}

}  // namespace chains::evm
