#pragma once

#include "config/load.hpp"
#include "config/read_tree.hpp"

namespace config {

// What the keys of the vote chain and of the prover must be together.
void check_votes(const Settings& settings, Findings& findings);

// Says what the operator should know.
void settle_votes(Loaded& loaded);

}  // namespace config
