#pragma once

#include <string>

namespace config {

// The text of config.example.toml: every key with its meaning, default, unit and range. Keys
// without effect, and elements of lists that are empty by default, are commented out as `#key = …`.
[[nodiscard]] std::string example();

}  // namespace config
