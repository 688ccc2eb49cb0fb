#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace api_test {

using Labels = std::map<std::string, std::string>;

// An answer of /metrics taken apart: series of the text format 0.0.4.
class Exposition {
public:
    explicit Exposition(std::string given) : text(std::move(given)) {
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) {
            if (line.starts_with("# TYPE ")) {
                const std::size_t space = line.find(' ', 7);
                const auto [_, added] =
                    types.emplace(line.substr(7, space - 7), line.substr(space + 1));
                CHECK_MESSAGE(added, line);
            } else if (!line.starts_with("# HELP ")) {
                read_series(line);
            }
        }
    }

    // Nothing: there is no such series.
    [[nodiscard]] std::optional<double> find(const std::string& name,
                                             const Labels& labels = {}) const {
        const auto found = series.find({name, labels});
        if (found == series.end()) return std::nullopt;
        return found->second;
    }
    [[nodiscard]] double value(const std::string& name, const Labels& labels = {}) const {
        const auto found = find(name, labels);
        REQUIRE_MESSAGE(found, name);
        return *found;
    }

    // The label sets under this name.
    [[nodiscard]] std::vector<Labels> all(const std::string& name) const {
        std::vector<Labels> found;
        for (const auto& [key, _] : series) {
            if (key.first == name) found.push_back(key.second);
        }
        return found;
    }
    [[nodiscard]] double sum(const std::string& name) const {
        double total = 0;
        for (const auto& [key, number] : series) total += key.first == name ? number : 0;
        return total;
    }

    const std::string text;
    std::map<std::string, std::string> types;  // by family
    std::map<std::pair<std::string, Labels>, double> series;

private:
    // Label values of ours hold neither commas nor quotes.
    void read_series(const std::string& line) {
        const std::size_t space = line.rfind(' ');
        const std::size_t brace = line.find('{');
        Labels labels;
        if (brace != std::string::npos) {
            std::istringstream pairs(line.substr(brace + 1, space - brace - 2));
            for (std::string pair; std::getline(pairs, pair, ',');) {
                const std::size_t equal = pair.find("=\"");
                REQUIRE_MESSAGE(equal != std::string::npos, line);
                labels[pair.substr(0, equal)] = pair.substr(equal + 2, pair.size() - equal - 3);
            }
        }
        const std::string name = line.substr(0, std::min(brace, space));
        const auto [_, added] =
            series.emplace(std::pair{name, labels}, std::stod(line.substr(space + 1)));
        CHECK_MESSAGE(added, line);
    }
};

}  // namespace api_test
