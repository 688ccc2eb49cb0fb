#pragma once

#include "config/settings.hpp"

namespace commands {

// One I/O thread, one set of trusted certificates and the same proxies for all that the program
// asks. Throws std::system_error when there is no thread.
void share_client_context(config::Settings& settings);

}  // namespace commands
