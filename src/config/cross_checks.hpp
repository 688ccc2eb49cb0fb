#pragma once

#include "config/read_tree.hpp"

namespace config {

// What no key can know alone. `root` holds what was set, for values that have no effect.
void check_across(const Node& root, const Settings& settings, Findings& findings);

}  // namespace config
