#pragma once

#include <string>
#include <string_view>

namespace config {

// The known key whose name is the fewest changes away from `name`.
[[nodiscard]] std::string nearest_key(std::string_view name);
// Likewise for tables.
[[nodiscard]] std::string nearest_table(std::string_view name);

// Insertions, deletions, replacements and swaps of neighbours.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace config
