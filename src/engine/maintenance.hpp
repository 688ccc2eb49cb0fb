#pragma once

#include "engine/context.hpp"

// Upkeep, in batches that fit into a step.
namespace engine::maintenance {

// Forgets what retention no longer keeps, the shares of rounds that are over and answers nobody
// claimed. True when there is more to do at once.
[[nodiscard]] bool run_batch(Context& context);

}  // namespace engine::maintenance
