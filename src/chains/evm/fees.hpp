#pragma once

#include <mutex>
#include <optional>
#include <variant>

#include "chains/evm/options.hpp"
#include "chains/evm/transaction.hpp"
#include "chains/jsonrpc/node.hpp"
#include "chains/jsonrpc/wei.hpp"
#include "ports/clock.hpp"

namespace chains::evm {

// Prices per gas (evm-gateway 5.3).
struct FeeQuote {
    bool legacy = false;  // the chain has no base fee
    // At least 1 wei, and what eth_maxPriorityFeePerGas says where it is served; 0 when legacy.
    jsonrpc::Wei priority_fee = 0;
    jsonrpc::Wei max_fee = 0;  // twice the base fee and the priority fee; the gas price when legacy
};

[[nodiscard]] FeeQuote fees_of(const Transaction& transaction);
void set_fees(Transaction& transaction, const FeeQuote& quote);

using FeeAnswer = std::variant<FeeQuote, jsonrpc::TransportError>;

// What the chain asks for now, from the write node. Any thread; blocks while it asks. Those who
// come meanwhile share the answer.
class Fees {
public:
    Fees(const Options& options, jsonrpc::Node& node, const ports::Clock& clock);

    [[nodiscard]] FeeAnswer current();

private:
    [[nodiscard]] FeeAnswer ask();
    [[nodiscard]] jsonrpc::Wei tip_floor(const jsonrpc::Answer& answer);

    const Options options_;
    jsonrpc::Node& node_;
    const ports::Clock& clock_;
    std::mutex mutex_;
    std::optional<FeeQuote> quote_;
    domain::Monotonic asked_{};
    // The node does not serve eth_maxPriorityFeePerGas; asked anew then.
    std::optional<domain::Monotonic> no_tip_until_;
};

// Of eth_feeHistory(10 blocks, latest, [20]) and, for what it lacks, the newest block's header.
// Nothing when malformed. `base` absent: neither has a base fee.
struct FeeHistory {
    std::optional<jsonrpc::Wei> base;
    jsonrpc::Wei priority_fee = 1;
};
[[nodiscard]] std::optional<FeeHistory> decode_fee_history(const jsonrpc::Json& history);

// Whether a transaction that was signed `at` waits for long enough that others may have offered
// more. One that was signed in the future was signed under another clock.
[[nodiscard]] bool is_old(const ports::Clock& clock, domain::Timestamp at,
                          const Options::Fees& options);

// Prices with which a node takes a transaction in place of one with `old` prices: both fields
// higher by the step, and not below what the chain asks for now. Nothing when that would be beyond
// the cap (field report 23). Without a cap that is ten times what the chain asks for, or what the
// `first` transaction of the request offered.
// `floor`: what a node named as its minimum; it moves the prices, not the cap.
struct FeeFloor {
    std::optional<jsonrpc::Wei> max_fee;
    std::optional<jsonrpc::Wei> priority_fee;
};
[[nodiscard]] std::optional<FeeQuote> bumped(const FeeQuote& old, const FeeQuote& first,
                                             const FeeQuote& market, const Options::Fees& options,
                                             const FeeFloor& floor = {});

// Prices below `old` for a node with a cap of its own on fees: `most` per gas where it named one
// that is below, else what the next block takes. Nothing: the chain takes none of them.
[[nodiscard]] std::optional<FeeQuote> lowered(const FeeQuote& old, const FeeQuote& market,
                                              std::optional<jsonrpc::Wei> most);

}  // namespace chains::evm
