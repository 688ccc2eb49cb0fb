#pragma once

#include <cstddef>
#include <string>
#include <vector>

// Parts of statements that are made of a file's own tables.
namespace store {

[[nodiscard]] inline std::string quoted(const std::string& name) {
    return '"' + name + '"';
}

[[nodiscard]] inline std::string name_list(const std::vector<std::string>& names) {
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ", ") + quoted(name);
    return list;
}

// For so many values.
[[nodiscard]] inline std::string mark_list(std::size_t count) {
    std::string list;
    for (std::size_t i = 0; i < count; ++i) list += list.empty() ? "?" : ", ?";
    return list;
}

}  // namespace store
