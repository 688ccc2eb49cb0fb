#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "chains/evm/receipt.hpp"
#include "chains/jsonrpc/node.hpp"
#include "domain/bytes.hpp"

namespace chains::evm {

// The response events of both contracts in a range of blocks (evm-gateway 8.3).
struct LogQuery {
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    domain::Address decryption{};
    domain::Address input_verification{};

    [[nodiscard]] std::uint64_t blocks() const { return to - from + 1; }
};

[[nodiscard]] jsonrpc::Call logs_call(const LogQuery& query);
// Same, for other events of theirs: one of these topics first.
[[nodiscard]] jsonrpc::Call logs_call(const LogQuery& query,
                                      std::span<const domain::Bytes32> topics);
[[nodiscard]] jsonrpc::Call block_call(std::uint64_t number);

// What the answer to block_call() says. Some nodes answer null for a block they do not have, others
// refuse.
struct NoBlock {};
struct GarbledBlock {};
using BlockHash = std::variant<domain::Bytes32, NoBlock, GarbledBlock>;
[[nodiscard]] BlockHash hash_in(const jsonrpc::Answer& answer, std::uint64_t number);

// In chain order, without removed ones and repetitions. Or, in one line, why nothing in the answer
// is to be believed: a log that is malformed, was not asked for, or contradicts another one or the
// hash of the last block.
using CheckedLogs = std::variant<std::vector<Log>, std::string>;
[[nodiscard]] CheckedLogs check_logs(const jsonrpc::Json& answer, const LogQuery& query,
                                     const domain::Bytes32& hash_of_last);

}  // namespace chains::evm
