#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "config/node.hpp"

namespace config {

inline constexpr std::string_view variable_prefix = "POSTHOUSE_";

using Environment = std::vector<std::pair<std::string, std::string>>;

// What the program was started with.
[[nodiscard]] Environment process_environment();

// A table, or why there is none: `FILE: …` or `FILE:LINE: …`. Values never appear in the reason.
// Throws std::system_error where it is the system that has no room to read it now.
[[nodiscard]] std::variant<Node, std::string> read_file(const std::filesystem::path& path);
[[nodiscard]] std::variant<Node, std::string> read_toml(std::string_view text,
                                                        const std::string& file_name);

// The variables with our prefix as a table; what is wrong with their names goes to `errors`. One
// without `__` that is no table of ours may be somebody else's, and is left out with a line in
// `warnings`. Variables that container platforms derive from a service called posthouse are passed
// over.
[[nodiscard]] Node read_environment(const Environment& environment,
                                    std::vector<std::string>& errors,
                                    std::vector<std::string>& warnings);

// `http.endpoint` → `POSTHOUSE_HTTP__ENDPOINT`, `a[0].b` → `POSTHOUSE_A__0__B`, `a[].b` likewise
// with N.
[[nodiscard]] std::string variable_of(std::string_view key);

}  // namespace config
