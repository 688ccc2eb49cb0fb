#pragma once

#include <string>
#include <vector>

#include "config/settings.hpp"

namespace commands {

// The places of secrets become paths; the admin token and the key that signs transactions are read.
// Throws std::runtime_error that names the file and the fix.
void find_secrets(config::Settings& settings);

// The key that signs transactions, alone. Throws like find_secrets().
void find_signer_key(config::Settings& settings);

// Reads every secret as a start would, but those only the running service can read; each of them
// gives a line. Throws like a start.
[[nodiscard]] std::vector<std::string> check_secrets(config::Settings& settings);

}  // namespace commands
