#pragma once

#include <string>
#include <vector>

#include "config/load.hpp"
#include "config/settings.hpp"

namespace commands {

// The places of secrets become paths; the admin token and the key that signs transactions are read,
// what others read later is tried. Throws BadSettings that names the key, where it was set, the
// file and the fix, and std::system_error when there is a shortage that may pass.
void find_secrets(config::Settings& settings, const config::Origins& origins = {});

// The key that signs transactions, alone. Throws like it.
void find_signer_key(config::Settings& settings, const config::Origins& origins = {});

// The keys of the cluster, alone. Throws BadSettings like it.
void find_cluster_keys(config::Settings& settings);

// Reads every secret as a start would, but those only the running service can read; each of them
// gives a line. Throws like find_secrets().
[[nodiscard]] std::vector<std::string> check_secrets(config::Settings& settings,
                                                     const config::Origins& origins);

}  // namespace commands
