#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "config/settings.hpp"
#include "config/source.hpp"

namespace config {

// Later ones win: file, environment, flags.
struct Sources {
    std::optional<std::filesystem::path> file;  // --config
    Environment environment;
    std::optional<std::string> data_dir;  // --data-dir
    std::optional<std::string> listen;    // --listen
};

struct Loaded {
    Settings settings;
    std::vector<std::string> warnings;  // one line each, for the log
    std::vector<std::string> notes;     // same, of less weight
};

// Everything that is wrong, one line each, in the order of the sources:
// `WHERE: key: problem; allowed: …`, where WHERE is FILE:LINE, the variable or the flag. No line
// holds a secret or a URL.
struct ConfigErrors {
    std::vector<std::string> errors;
};

[[nodiscard]] std::variant<Loaded, ConfigErrors> load(const Sources& sources);

}  // namespace config
