#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "chains/jsonrpc/node.hpp"
#include "chains/jsonrpc/wei.hpp"
#include "commands/drill/asking.hpp"
#include "domain/bytes.hpp"

namespace commands::drill {

// One transaction of an account, as its block and its receipt have it.
struct AccountTransaction {
    domain::Bytes32 hash{};
    std::uint64_t nonce = 0;
    std::optional<domain::Address> to;  // nothing: it made a contract
    domain::Bytes data;
    bool succeeded = false;
    std::uint64_t gas_used = 0;
    chains::jsonrpc::Wei gas_price = 0;  // what was paid for each
};

// An account of a chain, as a node knows it. What the node does not tell is asked again a few
// times; then std::runtime_error says what it was. One thread.
class ChainAccount {
public:
    // All outlive it.
    ChainAccount(chains::jsonrpc::Node& node, const domain::Address& address, const Wait& wait)
        : node_(node), address_(address), wait_(wait) {}

    [[nodiscard]] std::uint64_t chain_id();
    // The newest block.
    [[nodiscard]] std::uint64_t head();
    // At the newest block, in wei.
    [[nodiscard]] chains::jsonrpc::Wei balance();
    // Of one gas now, in wei; 0 on chains where nothing costs.
    [[nodiscard]] chains::jsonrpc::Wei gas_price();
    // How many transactions it has sent up to a block; and with those that wait for one.
    [[nodiscard]] std::uint64_t count(std::uint64_t block);
    [[nodiscard]] std::uint64_t count_pending();
    // Those in these blocks, both ends included.
    [[nodiscard]] std::vector<AccountTransaction> transactions(std::uint64_t first,
                                                               std::uint64_t last);

private:
    using Json = chains::jsonrpc::Json;

    [[nodiscard]] Json ask(const chains::jsonrpc::Call& call);
    [[nodiscard]] std::vector<Json> ask_all(const std::vector<chains::jsonrpc::Call>& calls);
    [[nodiscard]] std::uint64_t ask_number(const chains::jsonrpc::Call& call);
    [[nodiscard]] chains::jsonrpc::Wei ask_wei(const chains::jsonrpc::Call& call);
    void read_receipts(std::vector<AccountTransaction>& transactions);

    chains::jsonrpc::Node& node_;
    const domain::Address address_;
    const Wait& wait_;
};

}  // namespace commands::drill
