#pragma once

#include <cstdint>
#include <string_view>

#include "config/load.hpp"
#include "config/read_tree.hpp"

namespace config {

// What no key can know alone, that of the real chains below too. `root` holds what was set, for
// values that have no effect.
void check_across(const Node& root, const Settings& settings, Findings& findings);

// What the keys of a real chain must be together: complete when gateway.type is evm, sound in any
// case (evm-gateway 11 row 27, appendix B).
void check_evm(const Node& root, const Settings& settings, Findings& findings);
// The same of who signs.
void check_signers(const Node& root, const Settings& settings, Findings& findings);
// Fills in what follows from other keys, and says what the operator should know.
void settle_evm(Loaded& loaded);
// The most threads that wait for receipts.
inline constexpr std::uint32_t evm_sends_max = 1'000;

// What the table `cluster` must have, be it empty, and what else a node must not be. Without a name
// in it a node has that of its host.
void check_cluster(const Node& root, Settings& settings, Findings& findings);
// Makes requests fit into the journal, and says what the operator should know.
void settle_cluster(Loaded& loaded);

// Whether the host of an address is this machine, whatever happens in a network.
[[nodiscard]] bool is_this_machine(std::string_view host);

// What the keys of the vote chain and of the prover must be together.
void check_votes(const Settings& settings, Findings& findings);
// Switches vote shares off when they would go to a chain that was not meant, and says what the
// operator should know.
void settle_votes(const Findings& findings, Loaded& loaded);

}  // namespace config
