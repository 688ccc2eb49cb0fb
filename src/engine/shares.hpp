#pragma once

#include "engine/context.hpp"

// Vote shares: `queued` until their second, then at most N proofs at once; the only kind that goes
// back to `queued` after a failed attempt (share-helper 3 and 9).
namespace engine::shares {

// A round is over once its last second has passed (share-helper 3.3: strictly, whole seconds).
inline constexpr domain::Milliseconds last_second{1'000};

// Whether the round of the share is over, as the share has it.
[[nodiscard]] bool is_over(const Context& context, const store::Row& row);

// The second the wallet chose, or when the share came; of an unreadable share the beginning of
// time, so that it comes up and fails.
[[nodiscard]] domain::Timestamp due_time(Context& context, const store::Row& row);

// Whether a share that was begun is not due any more: the clock was set back meanwhile.
[[nodiscard]] bool is_early(Context& context, const store::Row& row);
// Back until its second. Costs no attempt.
void put_back(Context& context, const store::Row& row);

// As many due shares as there are slots, earliest first. Shares of a round that is over time out
// instead.
void start(Context& context);

// Tells of the proofs that begin within the lead of the options.
void foresee(Context& context);

// At start: those whose first try lies in an earlier life.
void reload_begun(Context& context);

// One line for each round that has shares more than a minute past their second, at most once an
// hour.
void tell_late_rounds(Context& context);

// Times out shares of a round that wait although it is over; at most `limit`. How many.
std::size_t expire(Context& context, std::int64_t round, std::size_t limit);

void revealed(Context& context, const store::Row& row, const Receipt& receipt);
// The chain or the prover said no: one of the attempts is spent.
void attempt_failed(Context& context, const store::Row& row, const domain::Failure& failure);
// Nobody could be asked, or the chain does not know the round as active: costs no attempt while the
// round is open, unless strict_attempts, and never one while the process stops.
void chain_unreachable(Context& context, const store::Row& row, const Unreachable& unreachable);

}  // namespace engine::shares
