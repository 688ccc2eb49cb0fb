#pragma once

#include <vector>

#include "engine/clock.hpp"
#include "gateway/finding.hpp"
#include "gateway/votes/options.hpp"

namespace gateway::votes {

// Looks at what revealing shares will need, and changes nothing: no proof is made. Blocks as long
// as the chain does.
[[nodiscard]] std::vector<Finding> diagnose(const VoteOptions& options, const engine::Clock& clock);

}  // namespace gateway::votes
