#include "gateway/evm/receipts.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "gateway/evm/revert.hpp"
#include "gateway/rpc/decode.hpp"

namespace gateway::evm {

namespace {

std::vector<rpc::Call> of_each(const char* method, const Receipts::SealedList& sealed) {
    std::vector<rpc::Call> calls;
    calls.reserve(sealed.size());
    for (const engine::Sealed& one : sealed) {
        calls.push_back({method, rpc::Json::array({rpc::hex(one.hash)})});
    }
    return calls;
}

rpc::Trouble garbled(const char* what) {
    return {rpc::Trouble::Kind::garbled, what, {}};
}

}  // namespace

Receipts::Receipts(const EvmOptions& options, rpc::Node& write, const domain::Address& signer)
    : options_(options), write_(write), signer_(signer) {}

Receipts::Found Receipts::find(const SealedList& sealed) {
    const std::vector<rpc::Answer> answers =
        write_.call_all(of_each("eth_getTransactionReceipt", sealed));
    Found found = NotIncluded{};
    for (std::size_t i = 0; i < answers.size(); ++i) {
        if (const auto* result = std::get_if<rpc::Json>(&answers[i])) {
            if (result->is_null()) continue;
            auto receipt = decode_receipt(*result);
            if (receipt && receipt->hash == sealed[i].hash) return *std::move(receipt);
            found = garbled("a receipt that can not be read");
        } else if (const auto* trouble = std::get_if<rpc::Trouble>(&answers[i])) {
            found = *trouble;
        } else {
            found = garbled("the node refuses");
        }
    }
    return found;
}

bool Receipts::knows_any(const SealedList& sealed) {
    return std::ranges::any_of(write_.call_all(of_each("eth_getTransactionByHash", sealed)),
                               [](const rpc::Answer& answer) {
                                   const auto* found = std::get_if<rpc::Json>(&answer);
                                   return found == nullptr || !found->is_null();
                               });
}

bool Receipts::is_buried(const TransactionReceipt& receipt) {
    const std::uint64_t confirmations = options_.listening.confirmations;
    if (confirmations == 0) return true;
    const auto answer = write_.call({"eth_blockNumber", rpc::Json::array()});
    const auto* result = std::get_if<rpc::Json>(&answer);
    const auto head = result != nullptr ? rpc::quantity(*result) : std::nullopt;
    return head && *head >= confirmations && *head - confirmations >= receipt.block_number;
}

domain::Failure Receipts::why_reverted(const Transaction& transaction,
                                       const TransactionReceipt& receipt) {
    rpc::Json call{{"from", rpc::hex(signer_)},
                   {"to", rpc::hex(transaction.to)},
                   {"input", rpc::hex(transaction.data)},
                   {"gas", rpc::hex_quantity(transaction.gas_limit)}};
    if (transaction.legacy) {
        call["gasPrice"] = rpc::hex_quantity(transaction.max_fee);
    } else {
        call["maxFeePerGas"] = rpc::hex_quantity(transaction.max_fee);
        call["maxPriorityFeePerGas"] = rpc::hex_quantity(transaction.priority_fee);
    }
    const auto answer =
        write_.call({"eth_call", {std::move(call), rpc::hex_quantity(receipt.block_number)}});
    const auto* error = std::get_if<rpc::NodeError>(&answer);
    if (error == nullptr || !is_revert(*error)) {
        return {domain::Reason::reverted, "Transaction failed: Execution reverted on chain", {}};
    }
    return {domain::Reason::reverted,
            "Transaction failed: Execution reverted on chain: " + describe(*error),
            selector_of(*error)};
}

}  // namespace gateway::evm
