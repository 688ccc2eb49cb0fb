#pragma once

#include "engine/context.hpp"

// Code 0 says that a node admitted a reveal, not that a block holds it. With shares.confirm_reveals
// a share therefore waits in `receipt_received`, with its payload, until its nullifier is seen in
// the chain's record, or until the end of its round (share-helper 9). Look-ups begin at a fixed age
// and are paced; only confirms_max are under way at once.
namespace engine::confirmations {

// The chain took the share: from now on it waits. `row` as it was in flight.
void begin(Context& context, const store::Row& row, const domain::ShareRevealed& revealed);

// A share in `receipt_received` whose time to be looked up, or whose round's end, has come. Without
// shares.confirm_reveals it is completed: what was asked for in an earlier life is asked no more.
void wake(Context& context, const store::Row& row);

// What came back. A share that the chain does not have after a while is lost: it goes back to the
// queue and is proved anew, which costs no attempt.
void apply(Context& context, const Confirmed& event);

}  // namespace engine::confirmations
