#pragma once

#include "engine/context.hpp"

// Upkeep, in pieces that fit into a step.
namespace engine::maintenance {

// Closes rounds that are over with an alert if something was not revealed, forgets what retention
// no longer keeps and answers nobody claimed. True when there is more to do at once.
[[nodiscard]] bool run_piece(Context& context);

}  // namespace engine::maintenance
