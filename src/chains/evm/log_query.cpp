#include "chains/evm/log_query.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "chains/evm/events.hpp"
#include "chains/jsonrpc/decode.hpp"

namespace chains::evm {

using jsonrpc::Json;

namespace {

bool asked_for(const Log& log, const LogQuery& query) {
    if (log.block_number < query.from || log.block_number > query.to) return false;
    if (log.address != query.decryption && log.address != query.input_verification) return false;
    const auto& topics = answer_topics();
    return !log.topics.empty() &&
           std::find(topics.begin(), topics.end(), log.topics.front()) != topics.end();
}

bool same(const Log& a, const Log& b) {
    return a.address == b.address && a.topics == b.topics && a.data == b.data;
}

// Whether each block has one hash and each place one log.
std::optional<std::string> contradiction(const std::vector<Log>& sorted, const LogQuery& query,
                                         const domain::Bytes32& hash_of_last) {
    std::map<std::uint64_t, domain::Bytes32> hashes{{query.to, hash_of_last}};
    const Log* before = nullptr;
    for (const Log& log : sorted) {
        if (hashes.emplace(log.block_number, log.block_hash).first->second != log.block_hash) {
            return "logs of two blocks with one number";
        }
        if (before != nullptr && before->block_number == log.block_number &&
            before->index == log.index && !same(*before, log)) {
            return "two logs in one place";
        }
        before = &log;
    }
    return std::nullopt;
}

}  // namespace

jsonrpc::Call logs_call(const LogQuery& query) {
    return logs_call(query, answer_topics());
}

jsonrpc::Call logs_call(const LogQuery& query, std::span<const domain::Bytes32> topics) {
    Json addresses = Json::array({jsonrpc::hex(query.decryption)});
    if (query.input_verification != query.decryption) {
        addresses.push_back(jsonrpc::hex(query.input_verification));
    }
    Json hashes = Json::array();
    for (const domain::Bytes32& topic : topics) hashes.push_back(jsonrpc::hex(topic));
    return {"eth_getLogs", Json::array({{{"fromBlock", jsonrpc::hex_quantity(query.from)},
                                         {"toBlock", jsonrpc::hex_quantity(query.to)},
                                         {"address", std::move(addresses)},
                                         {"topics", Json::array({std::move(hashes)})}}})};
}

jsonrpc::Call block_call(std::uint64_t number) {
    return {"eth_getBlockByNumber", Json::array({jsonrpc::hex_quantity(number), false})};
}

BlockHash hash_in(const jsonrpc::Answer& answer, std::uint64_t number) {
    const auto* block = std::get_if<Json>(&answer);
    if (block == nullptr || block->is_null()) return NoBlock{};
    const auto said = jsonrpc::quantity(jsonrpc::member(*block, "number"));
    const auto hash = jsonrpc::bytes32(jsonrpc::member(*block, "hash"));
    if (said != number || !hash) return GarbledBlock{};
    return *hash;
}

CheckedLogs check_logs(const Json& answer, const LogQuery& query,
                       const domain::Bytes32& hash_of_last) {
    if (!answer.is_array()) return "logs that are no list";
    std::vector<Log> logs;
    logs.reserve(answer.size());
    for (const Json& item : answer) {
        std::optional<Log> log = decode_log(item);
        if (!log) return "a malformed log";
        if (!asked_for(*log, query)) return "a log that was not asked for";
        if (!log->removed) logs.push_back(std::move(*log));
    }
    std::stable_sort(logs.begin(), logs.end(), [](const Log& a, const Log& b) {
        return std::tie(a.block_number, a.index) < std::tie(b.block_number, b.index);
    });
    if (auto found = contradiction(logs, query, hash_of_last)) return *std::move(found);
    const auto repeated = [](const Log& a, const Log& b) {
        return a.block_number == b.block_number && a.index == b.index;
    };
    logs.erase(std::unique(logs.begin(), logs.end(), repeated), logs.end());
    return logs;
}

}  // namespace chains::evm
