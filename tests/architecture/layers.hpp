#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace architecture {

// What is wrong with the includes and namespaces of one file, a line each: `src/store/rows.hpp:7:
// store includes engine`. `path` is relative to the source root and begins with `src/`.
[[nodiscard]] std::vector<std::string> violations_in(std::string_view path, std::string_view text);

// The same for every .hpp and .cpp below `root`/src, in the order of their names.
[[nodiscard]] std::vector<std::string> violations_below(const std::filesystem::path& root);

}  // namespace architecture
