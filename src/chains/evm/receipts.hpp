#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "chains/evm/options.hpp"
#include "chains/evm/receipt.hpp"
#include "chains/evm/transaction.hpp"
#include "chains/jsonrpc/node.hpp"
#include "domain/failure.hpp"
#include "engine/gateway.hpp"

namespace chains::evm {

// What became of transactions, as the write node knows it (evm-gateway 2, 4). Any thread; blocks
// while it asks.
class Receipts {
public:
    using SealedList = std::vector<engine::Sealed>;

    Receipts(const Options& options, jsonrpc::Node& write);

    struct NotIncluded {};
    // The node says an error instead: some index late, some have one for what is pending.
    struct NotIndexed {};
    using Found =
        std::variant<TransactionReceipt, NotIncluded, NotIndexed, jsonrpc::TransportError>;

    // The receipt of one of these transactions of a request.
    [[nodiscard]] Found find(const SealedList& sealed);

    // Whether the node has one of them, included or not; also when it can not be asked.
    [[nodiscard]] bool knows_any(const SealedList& sealed);

    // Whether the nonce of the newest is used, and the node has none of them: asked in one request,
    // which one node answers. Of whatever is not said, the answer is no.
    [[nodiscard]] bool is_nonce_of_another(const SealedList& sealed,
                                           const domain::Address& account);

    // Whether the latest block is younger than that, as far as it can be asked.
    [[nodiscard]] bool has_block_since(domain::Timestamp time);

    // Enough blocks are on top of it.
    [[nodiscard]] bool is_buried(const TransactionReceipt& receipt);

    // Plays a transaction of `account` again where it failed, to learn why.
    [[nodiscard]] domain::Failure why_reverted(const domain::Address& account,
                                               const Transaction& transaction,
                                               const TransactionReceipt& receipt);

private:
    const Options options_;
    jsonrpc::Node& write_;
};

}  // namespace chains::evm
