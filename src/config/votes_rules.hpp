#pragma once

#include "config/load.hpp"
#include "config/read_tree.hpp"

namespace config {

// What the keys of the vote chain and of the prover must be together.
void check_votes(const Settings& settings, Findings& findings);

// Switches vote shares off when they would go to a chain that was not meant, and says what the
// operator should know.
void settle_votes(const Findings& findings, Loaded& loaded);

}  // namespace config
