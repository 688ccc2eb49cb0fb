#pragma once

#include <mutex>
#include <optional>
#include <variant>

#include "engine/clock.hpp"
#include "gateway/evm/options.hpp"
#include "gateway/evm/transaction.hpp"
#include "gateway/evm/wei.hpp"
#include "gateway/rpc/node.hpp"

namespace gateway::evm {

// Prices per gas (evm-gateway 5.3).
struct FeeQuote {
    bool legacy = false;   // the chain has no base fee
    Wei priority_fee = 0;  // at least 1 wei; 0 when legacy
    Wei max_fee = 0;       // twice the base fee and the priority fee; the gas price when legacy
};

using FeeAnswer = std::variant<FeeQuote, rpc::Trouble>;

// What the chain asks for now, from the write node. Any thread; blocks while it asks. Those who
// come meanwhile share the answer.
class Fees {
public:
    Fees(const EvmOptions& options, rpc::Node& node, const engine::Clock& clock);

    [[nodiscard]] FeeAnswer current();

private:
    [[nodiscard]] FeeAnswer ask();

    const EvmOptions& options_;
    rpc::Node& node_;
    const engine::Clock& clock_;
    std::mutex mutex_;
    std::optional<FeeQuote> quote_;
    domain::Monotonic asked_{};
};

// Of eth_feeHistory(10 blocks, latest, [20]) and, for what it lacks, the newest block's header.
// Nothing when malformed. `base` absent: neither has a base fee.
struct FeeHistory {
    std::optional<Wei> base;
    Wei priority_fee = 1;
};
[[nodiscard]] std::optional<FeeHistory> decode_fee_history(const rpc::Json& history);

// Prices with which a node takes a transaction in place of one with `old` prices: both fields
// higher by the step, and not below what the chain asks for now. Nothing when that would be beyond
// the cap (field report 23). Without a cap that is ten times what the chain asks for, or what the
// `first` transaction of the request offered.
[[nodiscard]] std::optional<FeeQuote> bumped(const FeeQuote& old, const FeeQuote& first,
                                             const FeeQuote& market,
                                             const EvmOptions::Fees& options);

}  // namespace gateway::evm
