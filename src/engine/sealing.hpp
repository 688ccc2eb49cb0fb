#pragma once

#include <optional>
#include <vector>

#include "engine/context.hpp"

// From a plan to an order: a transaction is signed, stored, and handed out once the step is
// durable. A key that is in the process signs in the step; one that is not signs between two steps,
// and the row stays as it was until what it signed is there (Gateway::fetch_seal).
namespace engine::sealing {

// Without its time, which the store knows.
[[nodiscard]] store::Attempt attempt_of(const Sealed& sealed);

// The first transaction of a `processing` request.
void seal(Context& context, const store::Row& row, const Plan& plan);
// One more for a request that is in flight already; its place there stays taken.
void seal_again(Context& context, const store::Row& row, const Plan& plan);

// Only the first half, if there are two. False: the key is in the process.
[[nodiscard]] bool fetch(Context& context, const store::Row& row, const Plan& plan);
// The second half. False: somebody else was faster.
[[nodiscard]] bool store_fetched(Context& context, const store::Row& row, Sealed sealed);
// Nobody waits for the signature of this request any more. What it occupied.
std::optional<Work::Entry> end(Context& context, const store::Row& row);

// The last of these goes out; whichever a block has is its transaction.
void hand_out(Context& context, const store::Row& row, std::vector<store::Attempt> attempts,
              bool look_up_first);

}  // namespace engine::sealing
