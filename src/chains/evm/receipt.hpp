#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "chains/jsonrpc/node.hpp"
#include "domain/bytes.hpp"

namespace chains::evm {

struct Log {
    domain::Address address{};
    std::vector<domain::Bytes32> topics;  // at most 4
    domain::Bytes data;
    std::uint64_t block_number = 0;
    domain::Bytes32 block_hash{};
    std::uint64_t index = 0;
    bool removed = false;
    std::optional<domain::Bytes32> transaction{};  // its hash; not every node gives it
};

struct TransactionReceipt {
    domain::Bytes32 hash{};
    bool succeeded = false;
    std::uint64_t block_number = 0;
    domain::Bytes32 block_hash{};
    std::vector<Log> logs;
    // What was paid; not every node tells, and a number beyond 2^63 is none.
    std::optional<std::uint64_t> gas_used{};
    std::optional<std::uint64_t> gas_price{};
};

// As eth_getLogs and eth_getTransactionReceipt have them; unknown members are ignored. Nothing when
// a needed member is missing or malformed. Pending logs (null block) are malformed.
[[nodiscard]] std::optional<Log> decode_log(const jsonrpc::Json& value);
[[nodiscard]] std::optional<TransactionReceipt> decode_receipt(const jsonrpc::Json& value);

}  // namespace chains::evm
