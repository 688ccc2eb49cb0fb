#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/settings.hpp"

namespace commands::drill {

// The configuration of the posthouse that is drilled, as TOML: how the operator's is to keep things
// on disk, and nothing else of it, so that no chain, client, key or webhook of his is touched. The
// chain is the embedded one; it is slow and loses replies, and fails nothing for good.
[[nodiscard]] std::string config_of(const config::Settings& settings, std::uint64_t seed);

// What is different from the operator's own configuration, as variables of the environment, when
// the posthouse that is drilled goes to his chain: who may ask, and that nobody else is served or
// told. `block`: the first that may have an answer.
[[nodiscard]] std::vector<std::string> variables_on_chain(std::uint64_t block);

}  // namespace commands::drill
