#pragma once

#include <cstddef>
#include <optional>

#include "engine/context.hpp"
#include "engine/gateway.hpp"

// A chain that changes its mind (relayer-api 3.5): what rests on blocks that may be replaced, and
// what becomes of it when they are. What is known of that lies in the store, so a crash at any
// moment loses nothing: blocks are watched again at the start.
namespace engine::reorganisations {

// Requests whose block was replaced go back and are sent again; answers that waited to be compared
// with the chain count. `blocks`: with so many of the news steps before are done, and this one goes
// on behind them. False: there is more to do.
[[nodiscard]] bool apply(Context& context, const BlockNews& news, std::size_t& blocks);

// Where the transaction of the row was included, before the outcome is applied.
void note_inclusion(Context& context, const store::Row& row, const Sent& event);

// The transaction of an ended row was on its way again. The row itself does not change.
void sent_again(Context& context, const store::Row& row, const Sent& event);
// Another one was signed for it; or it was not, and is tried again later.
void signed_again(Context& context, const store::Row& row, const Sealed& sealed);
void repair_later(Context& context, const store::Row& row, const Unreachable& unreachable);

// Sends the transactions of ended rows whose time has come.
void start(Context& context);
// When the next of them is due.
[[nodiscard]] std::optional<domain::Monotonic> next_start(const Context& context);
// From what the store says.
void rebuild(Context& context);

// The blocks on which something rests at the start.
[[nodiscard]] std::vector<domain::Block> blocks_at_start(store::Store& store);

}  // namespace engine::reorganisations
