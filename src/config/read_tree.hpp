#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "config/node.hpp"
#include "config/settings.hpp"

namespace config {

// What reading found out.
struct Findings {
    struct Error {
        std::string origin;
        std::string text;  // without the origin
    };
    std::vector<Error> errors;
    // Where each key was set, by its name with indexes (`host_chains[0].url`).
    std::map<std::string, std::string> origins;

    void error(const std::string& origin, const std::string& key, const std::string& problem,
               const std::string& allowed);

    // The same where the first of the keys was set; silent when none was, since defaults are right,
    // or when one of them was refused already.
    void error_where_set(std::initializer_list<std::string> keys, const std::string& problem,
                         const std::string& allowed);

    [[nodiscard]] bool refused(const std::string& key) const;
    [[nodiscard]] bool was_set(const std::string& key) const { return origins.contains(key); }
};

// Whether what was set there lies in a file that other users may open. The environment is none.
[[nodiscard]] bool is_open_to_others(const std::string& origin);

// Applies every known value of the tree and reports every other.
void read_tree(const Node& root, Settings& settings, Findings& findings);

}  // namespace config
