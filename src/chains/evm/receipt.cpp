#include "chains/evm/receipt.hpp"

#include <limits>
#include <utility>

#include "chains/jsonrpc/decode.hpp"

namespace chains::evm {
namespace {

constexpr std::size_t topics_max = 4;

std::optional<std::vector<domain::Bytes32>> topics_in(const jsonrpc::Json& value) {
    if (!value.is_array() || value.size() > topics_max) return std::nullopt;
    std::vector<domain::Bytes32> topics;
    for (const jsonrpc::Json& one : value) {
        const auto topic = jsonrpc::bytes32(one);
        if (!topic) return std::nullopt;
        topics.push_back(*topic);
    }
    return topics;
}

// Those of this transaction: with another's the request would get another's answer.
std::optional<std::vector<Log>> logs_in(const jsonrpc::Json& value,
                                        const domain::Bytes32& transaction,
                                        const domain::Bytes32& block) {
    if (!value.is_array()) return std::nullopt;
    std::vector<Log> logs;
    for (const jsonrpc::Json& one : value) {
        auto log = decode_log(one);
        if (!log || log->block_hash != block) return std::nullopt;
        if (log->transaction.value_or(transaction) != transaction) return std::nullopt;
        logs.push_back(std::move(*log));
    }
    return logs;
}

// Only for people: whatever it is, the receipt counts.
std::optional<std::uint64_t> told(const jsonrpc::Json& value) {
    constexpr std::uint64_t stored_max = std::numeric_limits<std::int64_t>::max();
    const auto number = jsonrpc::quantity(value);
    return number.value_or(stored_max + 1) <= stored_max ? number : std::nullopt;
}

}  // namespace

std::optional<Log> decode_log(const jsonrpc::Json& value) {
    const auto address = jsonrpc::address(jsonrpc::member(value, "address"));
    auto topics = topics_in(jsonrpc::member(value, "topics"));
    auto data = jsonrpc::bytes(jsonrpc::member(value, "data"));
    const auto block_number = jsonrpc::quantity(jsonrpc::member(value, "blockNumber"));
    const auto block_hash = jsonrpc::bytes32(jsonrpc::member(value, "blockHash"));
    const auto index = jsonrpc::quantity(jsonrpc::member(value, "logIndex"));
    const jsonrpc::Json& removed = jsonrpc::member(value, "removed");
    if (!address || !topics || !data || !block_number || !block_hash || !index) {
        return std::nullopt;
    }
    if (!removed.is_null() && !removed.is_boolean()) return std::nullopt;
    return Log{*address,         std::move(*topics),
               std::move(*data), *block_number,
               *block_hash,      *index,
               removed == true,  jsonrpc::bytes32(jsonrpc::member(value, "transactionHash"))};
}

std::optional<TransactionReceipt> decode_receipt(const jsonrpc::Json& value) {
    const auto hash = jsonrpc::bytes32(jsonrpc::member(value, "transactionHash"));
    const auto status = jsonrpc::quantity(jsonrpc::member(value, "status"));
    const auto block_number = jsonrpc::quantity(jsonrpc::member(value, "blockNumber"));
    const auto block_hash = jsonrpc::bytes32(jsonrpc::member(value, "blockHash"));
    if (!hash || !status || *status > 1 || !block_number || !block_hash) return std::nullopt;
    auto logs = logs_in(jsonrpc::member(value, "logs"), *hash, *block_hash);
    if (!logs) return std::nullopt;
    return TransactionReceipt{*hash,
                              *status == 1,
                              *block_number,
                              *block_hash,
                              std::move(*logs),
                              told(jsonrpc::member(value, "gasUsed")),
                              told(jsonrpc::member(value, "effectiveGasPrice"))};
}

}  // namespace chains::evm
