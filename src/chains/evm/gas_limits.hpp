#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

#include "chains/jsonrpc/node.hpp"
#include "ports/clock.hpp"

namespace chains::evm {

// Of a transaction, on chains with EIP-7825.
inline constexpr std::uint64_t transaction_gas_max = 1U << 24U;

// How much gas a transaction may have: the latest block's limit, and the cap a node named when it
// refused one (EIP-7825 and the like). Any thread; blocks while it asks, once a minute at most.
class GasLimits {
public:
    GasLimits(jsonrpc::Node& node, const ports::Clock& clock);

    // The estimate and a fifth, not above what a transaction may have unless that is below the
    // estimate (evm-gateway 5.3, field report 94). Nothing when the estimate is none, or not for a
    // call with so much data.
    [[nodiscard]] std::optional<std::uint64_t> limit_for(std::uint64_t estimate,
                                                         std::size_t data_bytes);

    // No block has so much room: a transaction that needs it will never be included.
    [[nodiscard]] bool exceeds_block(std::uint64_t estimate);

    // The smaller of both; nothing when neither is known.
    [[nodiscard]] std::optional<std::uint64_t> cap();

    // A node named it. Good for ten minutes.
    void note_cap(std::uint64_t cap);

private:
    [[nodiscard]] std::optional<std::uint64_t> block_limit();

    jsonrpc::Node& node_;
    const ports::Clock& clock_;
    std::mutex mutex_;
    std::optional<std::uint64_t> block_limit_;
    std::optional<domain::Monotonic> asked_;
    std::optional<std::uint64_t> named_;
    domain::Monotonic named_at_{};
};

}  // namespace chains::evm
