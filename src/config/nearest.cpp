#include "config/nearest.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <vector>

#include "config/keys.hpp"

namespace config {
namespace {

// Of `a[3].b` and `a[].b` alike: `a.b`.
std::string without_indexes(std::string_view name) {
    std::string out;
    bool inside = false;
    for (const char c : name) {
        if (c == '[') inside = true;
        if (!inside) out += c;
        if (c == ']') inside = false;
    }
    return out;
}

std::string_view last_part(std::string_view name) {
    return name.substr(name.rfind('.') + 1);  // npos + 1 is 0: all of it
}

std::string nearest_of(const std::vector<std::string>& names, std::string_view name) {
    constexpr std::size_t compared_max = 200;  // longer than any key
    const std::string wanted = without_indexes(name.substr(0, compared_max));
    std::string best;
    std::size_t best_distance = std::numeric_limits<std::size_t>::max();
    for (const std::string& candidate : names) {
        const std::string known = without_indexes(candidate);
        // A right name in the wrong table is nearer than a wrong name in the right one.
        const std::size_t distance = 2 * edit_distance(wanted, known) +
                                     3 * edit_distance(last_part(wanted), last_part(known));
        if (distance < best_distance) {
            best_distance = distance;
            best = candidate;
        }
    }
    return best;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
    // Optimal string alignment: the rows i - 2, i - 1 and i of the table.
    std::array<std::vector<std::size_t>, 3> rows;
    for (auto& row : rows) row.assign(b.size() + 1, 0);
    for (std::size_t j = 0; j <= b.size(); ++j) rows[1][j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        auto& [before, above, row] = rows;
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + change});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = std::min(row[j], before[j - 2] + 1);
            }
        }
        std::rotate(rows.begin(), rows.begin() + 1, rows.end());
    }
    return rows[1][b.size()];
}

std::string nearest_key(std::string_view name) {
    std::vector<std::string> names;
    for (const Key& key : keys()) names.push_back(key.name);
    return nearest_of(names, name);
}

std::string nearest_table(std::string_view name) {
    std::vector<std::string> names;
    for (const Key& key : keys()) {
        for (std::size_t dot = key.name.find('.'); dot != std::string::npos;
             dot = key.name.find('.', dot + 1)) {
            names.push_back(key.name.substr(0, dot));
        }
    }
    return nearest_of(names, name);
}

}  // namespace config
