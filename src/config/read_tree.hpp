#pragma once

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
};

// Applies every known value of the tree and reports every other.
void read_tree(const Node& root, Settings& settings, Findings& findings);

}  // namespace config
