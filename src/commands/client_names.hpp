#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "config/settings.hpp"

namespace commands {

// Names of clients by the ids of their keys, for commands that run without the service: from the
// files of keys, or none of them if those can not be read. Empty: nobody has that id now.
[[nodiscard]] std::function<std::string(std::int64_t)> client_names(
    const config::Settings& settings);

}  // namespace commands
