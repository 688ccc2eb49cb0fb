#pragma once

#include "engine/context.hpp"

// Vote shares: `queued` until their second, then at most N proofs at once; the only kind that goes
// back to `queued` after a failed attempt (share-helper 3 and 9).
namespace engine::shares {

// The second the wallet chose; of an unreadable share the beginning of time, so that it comes up
// and fails.
[[nodiscard]] domain::Timestamp submit_time(Context& context, const store::Row& row);

// As many due shares as there are slots, earliest first. Shares of a round that is over time out
// instead.
void start(Context& context);

// Times out shares that wait although their round is over; at most `limit`. How many.
std::size_t expire(Context& context, std::size_t limit);

void revealed(Context& context, const store::Row& row, const Receipt& receipt);
// The chain or the prover said no: one of the attempts is spent.
void attempt_failed(Context& context, const store::Row& row, const domain::Failure& failure);
// Nobody could be asked: costs no attempt while the round is open, unless strict_attempts.
void trouble(Context& context, const store::Row& row, const std::string& reason);

}  // namespace engine::shares
