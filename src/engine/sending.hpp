#pragma once

#include "engine/context.hpp"

// Gate 2: `processing` until a token lets the request through, then prepare, seal, commit, send (a
// signature from elsewhere is fetched between two commits, and the row stays as it was);
// `tx_in_flight` until the chain has included it (relayer-api 3.3). Shares come here with their
// slot taken (engine/shares.hpp).
namespace engine::sending {

// Whether there is a transaction of this relayer request: once there is, the outcome may be
// unknown, and only the chain can settle it.
[[nodiscard]] bool was_sealed(const store::Row& row);

// A decrypt passed readiness and lines up.
void enter(Context& context, const store::Row& row);

// As many sends as there are tokens and places in flight.
void start(Context& context);

void apply(Context& context, const Prepared& event);
void apply(Context& context, const Signed& event);
void apply(Context& context, const Sent& event);

// The bytes of an ended request once more, without a change of its row; false: there are none. Its
// place in flight is the caller's to take.
[[nodiscard]] bool send_again(Context& context, const store::Row& row);

// A `processing` or `tx_in_flight` request whose pause or lease is over.
void wake(Context& context, const store::Row& row);

}  // namespace engine::sending
