#include "gateway/evm/receipt.hpp"

#include <utility>

#include "gateway/rpc/decode.hpp"

namespace gateway::evm {
namespace {

constexpr std::size_t topics_max = 4;

std::optional<std::vector<domain::Bytes32>> topics_in(const rpc::Json& value) {
    if (!value.is_array() || value.size() > topics_max) return std::nullopt;
    std::vector<domain::Bytes32> topics;
    for (const rpc::Json& one : value) {
        const auto topic = rpc::bytes32(one);
        if (!topic) return std::nullopt;
        topics.push_back(*topic);
    }
    return topics;
}

std::optional<std::vector<Log>> logs_in(const rpc::Json& value) {
    if (!value.is_array()) return std::nullopt;
    std::vector<Log> logs;
    for (const rpc::Json& one : value) {
        auto log = decode_log(one);
        if (!log) return std::nullopt;
        logs.push_back(std::move(*log));
    }
    return logs;
}

}  // namespace

std::optional<Log> decode_log(const rpc::Json& value) {
    const auto address = rpc::address(rpc::member(value, "address"));
    auto topics = topics_in(rpc::member(value, "topics"));
    auto data = rpc::bytes(rpc::member(value, "data"));
    const auto block_number = rpc::quantity(rpc::member(value, "blockNumber"));
    const auto block_hash = rpc::bytes32(rpc::member(value, "blockHash"));
    const auto index = rpc::quantity(rpc::member(value, "logIndex"));
    const rpc::Json& removed = rpc::member(value, "removed");
    if (!address || !topics || !data || !block_number || !block_hash || !index) {
        return std::nullopt;
    }
    if (!removed.is_null() && !removed.is_boolean()) return std::nullopt;
    return Log{*address, std::move(*topics), std::move(*data), *block_number, *block_hash,
               *index,   removed == true};
}

std::optional<TransactionReceipt> decode_receipt(const rpc::Json& value) {
    const auto hash = rpc::bytes32(rpc::member(value, "transactionHash"));
    const auto status = rpc::quantity(rpc::member(value, "status"));
    const auto block_number = rpc::quantity(rpc::member(value, "blockNumber"));
    const auto block_hash = rpc::bytes32(rpc::member(value, "blockHash"));
    if (!hash || !status || *status > 1 || !block_number || !block_hash) return std::nullopt;
    auto logs = logs_in(rpc::member(value, "logs"));
    if (!logs) return std::nullopt;
    return TransactionReceipt{*hash, *status == 1, *block_number, *block_hash, std::move(*logs)};
}

}  // namespace gateway::evm
