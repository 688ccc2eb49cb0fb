#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
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

// Where each key was set, by its name with indexes (`host_chains[0].url`): FILE:LINE, the variable
// or the flag.
using Origins = std::map<std::string, std::string>;

struct Loaded {
    Settings settings;
    Origins origins;
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

// `key: problem`, behind where the key was set when it was.
[[nodiscard]] std::string located(const Origins& origins, std::string_view problem);

}  // namespace config
