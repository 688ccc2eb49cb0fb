#include "commands/drill/chain_account.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include "chains/jsonrpc/decode.hpp"

namespace commands::drill {

namespace {

using namespace std::chrono_literals;
using chains::jsonrpc::Call;
using chains::jsonrpc::Json;
using chains::jsonrpc::member;
using chains::jsonrpc::quantity;

constexpr unsigned tries_max = 10;
constexpr auto between_tries = 1s;
constexpr std::size_t blocks_at_once = 10;

std::string problem_in(const chains::jsonrpc::Answer& answer) {
    if (const auto* error = std::get_if<chains::jsonrpc::NodeError>(&answer)) return error->message;
    const auto* lost = std::get_if<chains::jsonrpc::TransportError>(&answer);
    return lost != nullptr ? lost->text : "the node does not have it";
}

// null: the node has not heard of it yet.
const Json* told(const chains::jsonrpc::Answer& answer) {
    const auto* result = std::get_if<Json>(&answer);
    return result != nullptr && !result->is_null() ? result : nullptr;
}

[[noreturn]] void refuse_answer(const std::string& method) {
    throw std::runtime_error("the node's answer to " + method + " makes no sense");
}

template <typename Value>
Value needed_of(std::optional<Value> value, const std::string& method) {
    if (!value) refuse_answer(method);
    return *std::move(value);
}

// Nothing: it is of another account.
std::optional<AccountTransaction> transaction_of(const Json& json, const domain::Address& account) {
    const std::string method = "eth_getBlockByNumber";
    if (needed_of(chains::jsonrpc::address(member(json, "from")), method) != account) {
        return std::nullopt;
    }
    AccountTransaction found;
    found.hash = needed_of(chains::jsonrpc::bytes32(member(json, "hash")), method);
    found.nonce = needed_of(quantity(member(json, "nonce")), method);
    found.to = chains::jsonrpc::address(member(json, "to"));
    found.data = needed_of(chains::jsonrpc::bytes(member(json, "input")), method);
    // Old nodes have no other price than this one.
    found.gas_price = chains::jsonrpc::wei(member(json, "gasPrice")).value_or(0);
    return found;
}

}  // namespace

std::uint64_t ChainAccount::chain_id() {
    return ask_number({"eth_chainId", Json::array()});
}

std::uint64_t ChainAccount::head() {
    return ask_number({"eth_blockNumber", Json::array()});
}

chains::jsonrpc::Wei ChainAccount::balance() {
    return ask_wei({"eth_getBalance", Json::array({chains::jsonrpc::hex(address_), "latest"})});
}

chains::jsonrpc::Wei ChainAccount::gas_price() {
    return ask_wei({"eth_gasPrice", Json::array()});
}

std::uint64_t ChainAccount::count(std::uint64_t block) {
    return ask_number(
        {"eth_getTransactionCount",
         Json::array({chains::jsonrpc::hex(address_), chains::jsonrpc::hex_quantity(block)})});
}

std::uint64_t ChainAccount::count_pending() {
    return ask_number(
        {"eth_getTransactionCount", Json::array({chains::jsonrpc::hex(address_), "pending"})});
}

std::vector<AccountTransaction> ChainAccount::transactions(std::uint64_t first,
                                                           std::uint64_t last) {
    std::vector<AccountTransaction> found;
    for (std::uint64_t from = first; from <= last; from += blocks_at_once) {
        std::vector<Call> calls;
        for (std::uint64_t at = from; at <= std::min(last, from + blocks_at_once - 1); ++at) {
            calls.push_back(
                {"eth_getBlockByNumber", Json::array({chains::jsonrpc::hex_quantity(at), true})});
        }
        for (const Json& block : ask_all(calls)) {
            const Json& all = member(block, "transactions");
            if (!all.is_array()) refuse_answer("eth_getBlockByNumber");
            for (const Json& one : all) {
                if (auto ours = transaction_of(one, address_)) found.push_back(*std::move(ours));
            }
        }
    }
    read_receipts(found);
    return found;
}

void ChainAccount::read_receipts(std::vector<AccountTransaction>& transactions) {
    const std::string method = "eth_getTransactionReceipt";
    std::vector<Call> calls;
    calls.reserve(transactions.size());
    for (const AccountTransaction& transaction : transactions) {
        calls.push_back({method, Json::array({chains::jsonrpc::hex(transaction.hash)})});
    }
    const std::vector<Json> receipts = ask_all(calls);
    for (std::size_t i = 0; i < receipts.size(); ++i) {
        AccountTransaction& transaction = transactions[i];
        transaction.succeeded = needed_of(quantity(member(receipts[i], "status")), method) == 1;
        transaction.gas_used = needed_of(quantity(member(receipts[i], "gasUsed")), method);
        transaction.gas_price = chains::jsonrpc::wei(member(receipts[i], "effectiveGasPrice"))
                                    .value_or(transaction.gas_price);
    }
}

ChainAccount::Json ChainAccount::ask(const Call& call) {
    for (unsigned tries = 1;; ++tries) {
        const auto answer = node_.call(call);
        if (const Json* result = told(answer)) return *result;
        if (tries == tries_max) {
            throw std::runtime_error("the node does not answer " + call.method + ": " +
                                     problem_in(answer));
        }
        wait_(between_tries);
    }
}

std::vector<ChainAccount::Json> ChainAccount::ask_all(const std::vector<Call>& calls) {
    std::vector<Json> results;
    if (calls.empty()) return results;
    const auto answers = node_.call_all(calls);
    for (std::size_t i = 0; i < calls.size(); ++i) {
        const Json* result = told(answers.at(i));
        results.push_back(result != nullptr ? *result : ask(calls[i]));
    }
    return results;
}

chains::jsonrpc::Wei ChainAccount::ask_wei(const Call& call) {
    return needed_of(chains::jsonrpc::wei(ask(call)), call.method);
}

std::uint64_t ChainAccount::ask_number(const Call& call) {
    return needed_of(quantity(ask(call)), call.method);
}

}  // namespace commands::drill
