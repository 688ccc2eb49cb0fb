#pragma once

#include <vector>

#include "chains/diagnosis/finding.hpp"
#include "chains/votes/options.hpp"
#include "ports/clock.hpp"

namespace chains::votes {

// Looks at what revealing shares will need, and changes nothing: no proof is made. Blocks as long
// as the chain does.
[[nodiscard]] std::vector<diagnosis::Finding> diagnose(const Options& options,
                                                       const ports::Clock& clock);

}  // namespace chains::votes
