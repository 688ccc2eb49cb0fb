#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "domain/request.hpp"
#include "domain/result.hpp"
#include "engine/context.hpp"

// What the log says of vote shares: what failed and why. How many there are and when they leave
// only with shares.expose_timing, and never anything of the witness data.
namespace engine::shares {

// As it was handed in; nothing when it was wiped or can not be read.
[[nodiscard]] std::optional<domain::VoteShare> stored_share(Context& context,
                                                            const store::Row& row);

void note_started(Context& context, std::size_t count);
void note_revealed(Context& context, const store::Row& row, const domain::ShareRevealed& revealed);
// `row`: with the attempt counted.
void note_failed_attempt(Context& context, const store::Row& row, const std::string& reason);
// The first trouble since the last attempt ended.
void note_unreachable(Context& context, const store::Row& row, const std::string& reason);
// The chain took it and does not have it.
void note_lost(Context& context, const store::Row& row);
// Nobody says what the chain has; `reason` of the first look-up since the last that was answered.
void note_unconfirmable(Context& context, const std::string& reason);
// It ended badly.
void note_end(Context& context, const store::Row& row, const domain::Failure& failure);

}  // namespace engine::shares
