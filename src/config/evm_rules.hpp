#pragma once

#include "config/load.hpp"
#include "config/read_tree.hpp"

namespace config {

// What the keys of a real chain must be together: complete when gateway.type is evm, sound in any
// case (evm-gateway 11 row 27, appendix B).
void check_evm(const Node& root, const Settings& settings, Findings& findings);

// Fills in what follows from other keys, and says what the operator should know.
void settle_evm(Loaded& loaded);

// The most threads that wait for receipts.
inline constexpr std::uint32_t evm_sends_max = 1'000;

}  // namespace config
