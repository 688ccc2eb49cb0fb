#include "chains/evm/receipts.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>

#include "chains/evm/eth_call.hpp"
#include "chains/evm/revert.hpp"
#include "chains/jsonrpc/decode.hpp"
#include "chains/jsonrpc/reply_class.hpp"

namespace chains::evm {

namespace {

std::vector<jsonrpc::Call> of_each(const char* method, const Receipts::SealedList& sealed) {
    std::vector<jsonrpc::Call> calls;
    calls.reserve(sealed.size());
    for (const engine::Sealed& one : sealed) {
        calls.push_back({method, jsonrpc::Json::array({jsonrpc::hex(one.hash)})});
    }
    return calls;
}

jsonrpc::TransportError garbled(const char* what) {
    return {jsonrpc::TransportError::Kind::garbled, what, {}};
}

bool is_not_indexed(const jsonrpc::NodeError& error) {
    return jsonrpc::classify(error).reply_class == jsonrpc::ReplyClass::not_indexed_yet;
}

bool may_be_known(const jsonrpc::Answer& answer) {
    if (const auto* error = std::get_if<jsonrpc::NodeError>(&answer))
        return !is_not_indexed(*error);
    const auto* found = std::get_if<jsonrpc::Json>(&answer);
    return found == nullptr || !found->is_null();
}

}  // namespace

Receipts::Receipts(const Options& options, jsonrpc::Node& write)
    : options_(options), write_(write) {}

Receipts::Found Receipts::find(const SealedList& sealed) {
    const std::vector<jsonrpc::Answer> answers =
        write_.call_all(of_each("eth_getTransactionReceipt", sealed));
    Found found = NotIncluded{};
    for (std::size_t i = 0; i < answers.size(); ++i) {
        if (const auto* result = std::get_if<jsonrpc::Json>(&answers[i])) {
            if (result->is_null()) continue;
            auto receipt = decode_receipt(*result);
            if (receipt && receipt->hash == sealed[i].hash) return *std::move(receipt);
            found = garbled("a receipt that can not be read");
        } else if (const auto* problem = std::get_if<jsonrpc::TransportError>(&answers[i])) {
            found = *problem;
        } else if (std::holds_alternative<NotIncluded>(found)) {
            found = NotIndexed{};
        }
    }
    return found;
}

bool Receipts::knows_any(const SealedList& sealed) {
    return std::ranges::any_of(write_.call_all(of_each("eth_getTransactionByHash", sealed)),
                               may_be_known);
}

bool Receipts::is_nonce_of_another(const SealedList& sealed, const domain::Address& account) {
    std::vector<jsonrpc::Call> calls = of_each("eth_getTransactionReceipt", sealed);
    std::ranges::move(of_each("eth_getTransactionByHash", sealed), std::back_inserter(calls));
    calls.push_back({"eth_getTransactionCount", {jsonrpc::hex(account), "latest"}});
    const std::vector<jsonrpc::Answer> answers = write_.call_all(calls);
    const auto* said = std::get_if<jsonrpc::Json>(&answers.back());
    const auto count = said != nullptr ? jsonrpc::quantity(*said) : std::nullopt;
    return count && *count > sealed.back().nonce &&
           std::none_of(answers.begin(), std::prev(answers.end()), may_be_known);
}

bool Receipts::has_block_since(domain::Timestamp time) {
    const auto answer =
        write_.call({"eth_getBlockByNumber", jsonrpc::Json::array({"latest", false})});
    const auto* block = std::get_if<jsonrpc::Json>(&answer);
    if (block == nullptr || !block->is_object()) return true;
    const auto seconds = jsonrpc::quantity(jsonrpc::member(*block, "timestamp"));
    if (!seconds) return true;
    const auto since = std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
    return std::cmp_greater(*seconds, since);
}

bool Receipts::is_buried(const TransactionReceipt& receipt) {
    const std::uint64_t confirmations = options_.listening.confirmations;
    if (confirmations == 0) return true;
    const auto answer = write_.call({"eth_blockNumber", jsonrpc::Json::array()});
    const auto* result = std::get_if<jsonrpc::Json>(&answer);
    const auto head = result != nullptr ? jsonrpc::quantity(*result) : std::nullopt;
    return head && *head >= confirmations && *head - confirmations >= receipt.block_number;
}

domain::Failure Receipts::why_reverted(const domain::Address& account,
                                       const Transaction& transaction,
                                       const TransactionReceipt& receipt) {
    jsonrpc::Json call{{"from", jsonrpc::hex(account)},
                       {"to", jsonrpc::hex(transaction.to)},
                       {"gas", jsonrpc::hex_quantity(transaction.gas_limit)}};
    set_calldata(call, transaction.data);
    if (transaction.legacy) {
        call["gasPrice"] = jsonrpc::hex_quantity(transaction.max_fee);
    } else {
        call["maxFeePerGas"] = jsonrpc::hex_quantity(transaction.max_fee);
        call["maxPriorityFeePerGas"] = jsonrpc::hex_quantity(transaction.priority_fee);
    }
    const auto answer =
        write_.call({"eth_call", {std::move(call), jsonrpc::hex_quantity(receipt.block_number)}});
    const auto* error = std::get_if<jsonrpc::NodeError>(&answer);
    if (error == nullptr || !is_revert(*error)) {
        return {domain::Reason::reverted, "Transaction failed: Execution reverted on chain", {}};
    }
    return {domain::Reason::reverted,
            "Transaction failed: Execution reverted on chain: " + describe(*error),
            selector_of(*error)};
}

}  // namespace chains::evm
