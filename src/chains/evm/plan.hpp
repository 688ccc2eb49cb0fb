#pragma once

#include <cstdint>
#include <optional>

#include "chains/evm/fees.hpp"
#include "chains/evm/options.hpp"
#include "chains/evm/transaction.hpp"
#include "engine/gateway.hpp"

namespace chains::evm {

// Which of the keys.
struct KeyPlace {
    std::uint8_t index = 0;
    std::uint8_t of = 1;

    [[nodiscard]] bool is_alone() const { return of == 1; }
};

// A transaction that waits for its signature.
struct Draft {
    Transaction transaction;
    bool has_nonce = false;  // otherwise it gets the next one
    std::uint8_t key = 0;    // who signs it, KeyPlace::index
};

[[nodiscard]] engine::Plan plan_of(const Draft& draft);
// Nothing unless the plan is one of plan_of().
[[nodiscard]] std::optional<Draft> draft_in(const engine::Plan& plan);

// Uses its nonce up and does nothing else: a transaction of the account to itself.
[[nodiscard]] Transaction no_op_like(const Transaction& transaction, const domain::Address& self);
// The same in the place of a transaction that a node has: with higher fees, where the cap allows
// them. `market`: what the chain asks for now.
[[nodiscard]] Transaction dearer_no_op(const Transaction& instead_of, const domain::Address& self,
                                       const FeeAnswer& market, const Options::Fees& options);
// One that can be signed to see whether that works, and that no chain includes: its nonce is out of
// reach.
[[nodiscard]] Transaction probe_transaction(std::uint64_t chain_id, const domain::Address& self);
[[nodiscard]] bool is_no_op(const Transaction& transaction, const domain::Address& self);

}  // namespace chains::evm
