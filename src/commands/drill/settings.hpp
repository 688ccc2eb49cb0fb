#pragma once

#include <cstdint>
#include <string>

#include "config/settings.hpp"

namespace commands::drill {

// The configuration of the posthouse that is drilled, as TOML: how the operator's is to keep things
// on disk, and nothing else of it, so that no chain, client, key or webhook of his is touched. The
// chain is the embedded one; it is slow and loses replies, and fails nothing for good.
[[nodiscard]] std::string config_of(const config::Settings& settings, std::uint64_t seed);

}  // namespace commands::drill
