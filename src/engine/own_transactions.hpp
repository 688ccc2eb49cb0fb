#pragma once

#include "engine/context.hpp"

// Transactions that a gateway signs for no request: fillers of gaps between nonces, and approvals.
// Inside the step.
namespace engine::own_transactions {

// Stored first; it leaves after the commit.
void keep(Context& context, const store::OwnTransaction& own);

void settle(Context& context, const OwnSettled& event);

}  // namespace engine::own_transactions
