#include "chains/evm/fee_approval.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/sanitize.hpp"
#include "base/text.hpp"
#include "chains/evm/abi.hpp"
#include "chains/evm/calls.hpp"
#include "chains/evm/contract_kind.hpp"
#include "chains/evm/eth_call.hpp"
#include "chains/evm/fee_contracts.hpp"
#include "chains/evm/token_amount.hpp"
#include "chains/jsonrpc/decode.hpp"
#include "domain/keccak.hpp"

namespace chains::evm {

using engine::NotApproved;
using jsonrpc::Json;

namespace {

constexpr std::size_t symbol_bytes_max = 16;

NotApproved bad(std::string reason) {
    return {NotApproved::Why::bad, std::move(reason)};
}

NotApproved for_now(std::string reason) {
    return {NotApproved::Why::now, std::move(reason)};
}

// Why there is no answer to a question.
std::optional<NotApproved> unanswered(const jsonrpc::Answer& answer) {
    const auto* problem = std::get_if<jsonrpc::TransportError>(&answer);
    if (problem == nullptr) return std::nullopt;
    return for_now("the node did not answer: " + text_of(*problem));
}

std::optional<domain::Bytes> code_in(const jsonrpc::Answer& answer) {
    const auto* result = std::get_if<Json>(&answer);
    return result != nullptr ? jsonrpc::bytes(*result) : std::nullopt;
}

// Of a call; nothing when it was refused, or is none.
std::optional<domain::Bytes32> word_in(const jsonrpc::Answer& answer) {
    const auto read = read_eth_call(answer);
    const auto* bytes = std::get_if<domain::Bytes>(&read);
    return bytes != nullptr ? decode_word(*bytes, 0) : std::nullopt;
}

std::string symbol_in(const jsonrpc::Answer& answer) {
    const auto read = read_eth_call(answer);
    const auto* bytes = std::get_if<domain::Bytes>(&read);
    const auto text = bytes != nullptr ? abi::Decoder{*bytes}.bytes(0) : std::nullopt;
    if (!text) return {};
    return base::harmless_text({reinterpret_cast<const char*>(text->data()), text->size()},
                               symbol_bytes_max);
}

std::optional<NotApproved> refuse_amount(const domain::Bytes32& amount,
                                         const domain::Bytes32& supply, unsigned decimals) {
    domain::Bytes32 endless{};
    endless.fill(0xff);
    if (amount == endless) {
        return bad("amount: it would have no end; approve what the requests of some time cost");
    }
    if (amount <= supply) return std::nullopt;
    return bad("amount: it is more than there is of the token, " + token_text(supply, decimals) +
               "; approve what the requests of some time cost");
}

bool is_same(const std::string& shown, const domain::Address& now) {
    return base::lower_case(shown) == jsonrpc::hex(now);
}

}  // namespace

FeeApproval::FeeApproval(const Options& options, jsonrpc::Node& write, Nonces& nonces, Fees& fees,
                         GasLimits& gas, Signer& signer, OwnTransactions& own,
                         std::function<std::optional<engine::Unreachable>()> unready)
    : options_(options),
      write_(write),
      nonces_(nonces),
      fees_(fees),
      gas_(gas),
      signer_(signer),
      own_(own),
      unready_(std::move(unready)) {}

engine::Approvals::Terms FeeApproval::terms() {
    Look found = look();
    if (auto* problem = std::get_if<NotApproved>(&found)) return std::move(*problem);
    return std::get<Found>(std::move(found)).terms;
}

FeeApproval::Look FeeApproval::look() {
    const auto signer = signer_.known_address();
    if (!signer) return for_now("the address of the signer is not known yet");
    const auto contracts = find_fee_contracts(write_, options_);
    if (const auto* none = std::get_if<NoFeeContracts>(&contracts)) {
        return none->unanswered ? for_now(none->reason) : bad(none->reason);
    }
    Found found;
    found.signer = *signer;
    found.token = std::get<FeeContracts>(contracts).token;
    found.spender = std::get<FeeContracts>(contracts).spender;
    if (auto problem = read_token(found)) return *std::move(problem);
    engine::ApprovalTerms& terms = found.terms;
    terms.chain_id = options_.chain_id;
    terms.signer = domain::checksummed(found.signer);
    terms.token = domain::checksummed(found.token);
    terms.spender = domain::checksummed(found.spender);
    for (const auto& [nonce, approval] : own_.approvals()) {
        const std::string state = approval.fate ? store::name_of(*approval.fate) : "sent";
        terms.sent.push_back({nonce, jsonrpc::hex(approval.hash), state, approval.block});
    }
    return found;
}

std::optional<NotApproved> FeeApproval::read_token(Found& found) {
    const auto ask = [](const domain::Address& contract, const domain::Bytes& data) {
        return eth_call(contract, data, "latest");
    };
    const std::string token = jsonrpc::hex(found.token);
    const std::string spender = jsonrpc::hex(found.spender);
    const std::vector<jsonrpc::Answer> answers =
        write_.call_all({{"eth_chainId", Json::array()},
                         {"eth_getCode", {token, "latest"}},
                         {"eth_getCode", {spender, "latest"}},
                         version_call(found.spender),
                         ask(found.token, getter(Getter::decimals)),
                         ask(found.token, getter(Getter::total_supply)),
                         ask(found.token, balance_of(found.signer)),
                         ask(found.token, allowance(found.signer, found.spender)),
                         ask(found.token, getter(Getter::symbol))});
    for (const jsonrpc::Answer& answer : answers) {
        if (auto problem = unanswered(answer)) return problem;
    }
    const auto* chain = std::get_if<Json>(&answers[0]);
    if (chain == nullptr || jsonrpc::quantity(*chain) != options_.chain_id) {
        return bad("the node is on another chain than the configured one");
    }
    const auto nothing_at = [&](std::size_t place, const std::string& where,
                                const char* key) -> std::optional<NotApproved> {
        const auto code = code_in(answers[place]);
        if (!code || !code->empty()) return std::nullopt;
        return bad("the chain has no contract at " + where + ": check gateway.contracts." + key);
    };
    if (auto problem = nothing_at(1, token, "fee_token_address")) return problem;
    if (auto problem = nothing_at(2, spender, "protocol_payment_address")) return problem;
    const ContractAnswer version = read_version(answers[3]);
    if (const auto* says = std::get_if<ContractVersion>(&version)) {
        found.terms.spender_is = to_string(*says);
        if (says->name != name_of(ContractKind::protocol_payment)) {
            return bad("at " + spender + " is " + found.terms.spender_is +
                       ", which takes no fees: check gateway.contracts.protocol_payment_address");
        }
    }
    const auto decimals = word_in(answers[4]);
    const auto supply = word_in(answers[5]);
    const auto balance = word_in(answers[6]);
    const auto allowed = word_in(answers[7]);
    const bool has_decimals =
        decimals && decimals->back() <= token_decimals_max &&
        std::all_of(decimals->begin(), decimals->end() - 1, [](auto byte) { return byte == 0; });
    if (!has_decimals || !supply || !balance || !allowed) {
        return bad("what the chain has at " + token +
                   " is no token: it does not tell its decimals, its supply, a balance or an "
                   "allowance; check gateway.contracts.fee_token_address");
    }
    found.supply = *supply;
    found.terms.decimals = decimals->back();
    found.terms.symbol = symbol_in(answers[8]);
    found.terms.supply = token_text(*supply, found.terms.decimals);
    found.terms.balance = token_text(*balance, found.terms.decimals);
    found.terms.allowance = token_text(*allowed, found.terms.decimals);
    return std::nullopt;
}

void FeeApproval::approve(const engine::ApprovalOrder& order,
                          const std::function<void(const engine::Approvals::Outcome&)>& reply) {
    const Look look_up = look();
    if (const auto* problem = std::get_if<NotApproved>(&look_up)) return reply(*problem);
    const auto& found = std::get<Found>(look_up);
    if (!is_same(order.signer, found.signer) || !is_same(order.token, found.token) ||
        !is_same(order.spender, found.spender)) {
        return reply(NotApproved{NotApproved::Why::changed,
                                 "signer, token or spender are not what was shown: look again"});
    }
    const auto amount = read_token_amount(order.amount, found.terms.decimals);
    if (const auto* why = std::get_if<std::string>(&amount)) return reply(bad("amount: " + *why));
    const auto& value = std::get<domain::Bytes32>(amount);
    if (const auto refused = refuse_amount(value, found.supply, found.terms.decimals)) {
        return reply(*refused);
    }
    if (const auto unready = unready_()) return reply(for_now(unready->reason));
    auto drafted = draft(found, value);
    if (const auto* problem = std::get_if<NotApproved>(&drafted)) return reply(*problem);
    auto& transaction = std::get<Transaction>(drafted);
    const auto nonce = nonces_.reserve();
    if (!nonce) return reply(for_now("no node has told the count of the account yet"));
    transaction.nonce = *nonce;
    const std::string text = token_text(value, found.terms.decimals);
    signer_.fetch(transaction, [this, nonce = *nonce, text, reply](SignResult result) {
        if (const auto* problem = std::get_if<SignProblem>(&result)) {
            nonces_.give_back(nonce);
            return reply(for_now("the signer: " + problem->text));
        }
        own_.hand_over(OwnTransactions::Purpose::approval, nonce,
                       std::get<domain::Bytes>(std::move(result)),
                       [text, reply](const store::OwnTransaction& own) {
                           reply(engine::Approved{own.nonce, jsonrpc::hex(own.hash), text});
                       });
    });
}

std::variant<Transaction, NotApproved> FeeApproval::draft(const Found& found,
                                                          const domain::Bytes32& amount) {
    Transaction transaction;
    transaction.chain_id = options_.chain_id;
    transaction.to = found.token;
    transaction.data = approve_call(found.spender, amount);
    Json call{{"from", jsonrpc::hex(found.signer)}, {"to", jsonrpc::hex(found.token)}};
    set_calldata(call, transaction.data);
    const auto answer = write_.call({"eth_estimateGas", Json::array({std::move(call), "latest"})});
    if (auto problem = unanswered(answer)) return *std::move(problem);
    if (const auto* error = std::get_if<jsonrpc::NodeError>(&answer)) {
        return for_now("the token or the node refuses it: " + text_of(*error));
    }
    const auto estimate = jsonrpc::quantity(std::get<Json>(answer));
    const auto limit = estimate ? gas_.limit_for(*estimate, transaction.data.size()) : std::nullopt;
    if (!limit) return for_now("the node's estimate of its gas is none");
    const FeeAnswer fees = fees_.current();
    const auto* quote = std::get_if<FeeQuote>(&fees);
    if (quote == nullptr) {
        return for_now("fees: " + text_of(std::get<jsonrpc::TransportError>(fees)));
    }
    set_fees(transaction, *quote);
    transaction.gas_limit = *limit;
    const auto balance =
        write_.call({"eth_getBalance", Json::array({jsonrpc::hex(found.signer), "latest"})});
    if (auto problem = unanswered(balance)) return *std::move(problem);
    const auto* coins = std::get_if<Json>(&balance);
    const auto wei = coins != nullptr ? jsonrpc::wei(*coins) : std::nullopt;
    if (wei && *wei / std::max<std::uint64_t>(*limit, 1) < transaction.max_fee) {
        return for_now(domain::checksummed(found.signer) +
                       " has not enough coins for the gas of one transaction: send it some");
    }
    return transaction;
}

}  // namespace chains::evm
