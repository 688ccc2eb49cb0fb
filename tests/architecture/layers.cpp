#include "layers.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

namespace architecture {
namespace {

struct Layer {
    std::string_view name;
    int rank;  // includes its own folder and those of a lower rank
};

constexpr std::array layers{
    Layer{"base", 0},  Layer{"net", 1},      Layer{"domain", 1}, Layer{"ports", 2},
    Layer{"store", 3}, Layer{"cluster", 4},  Layer{"engine", 5}, Layer{"chains", 6},
    Layer{"api", 6},   Layer{"platform", 6}, Layer{"config", 7}, Layer{"commands", 8},
    Layer{"main", 9},
};

// The order inside a layer with subfolders; the name of the layer stands for its own files.
constexpr std::array parts{
    Layer{"chains/diagnosis", 0}, Layer{"chains/jsonrpc", 0},  Layer{"chains/evm", 1},
    Layer{"chains/votes", 1},     Layer{"chains/loopback", 1}, Layer{"chains", 2},
    Layer{"api/access", 0},       Layer{"api/docs", 0},        Layer{"api", 1},
    Layer{"api/admin", 2},        Layer{"api/metrics", 2},     Layer{"api/forwarding", 2},
    Layer{"commands", 0},         Layer{"commands/drill", 1},
};

struct Library {
    std::string_view start;                 // of what is included
    std::array<std::string_view, 3> homes;  // folders that may
};

// Also as <…>; standard and POSIX headers are in none of these.
constexpr std::array libraries{
    Library{"SQLiteCpp/", {"store", "chains"}},  // the embedded chain keeps its own ledger
    Library{"sqlite3.h", {"store", "chains"}},
    Library{"libpq-fe.h", {"cluster"}},
    Library{"nlohmann/", {"api", "chains", "commands"}},  // a drill is a client
    Library{"boost/json/", {"api", "chains"}},            // request bodies
    Library{"httplib.h", {"api", "chains"}},
    Library{"secp256k1", {"api", "chains"}},
    Library{"prometheus/", {"api", "api"}},  // the registry and the text format
    Library{"cryptopp/", {"domain"}},
    Library{"crypto++/", {"api", "chains"}},
    Library{"boost/", {"net", "net"}},
    Library{"openssl/", {"domain", "chains", "net"}},
    Library{"toml++/", {"config", "config"}},
    Library{"CLI/", {"config", "config"}},
    Library{"spdlog/", {"platform", "platform"}},
    Library{"fmt/", {"platform", "platform"}},
    Library{"systemd/", {"platform", "platform"}},
    Library{"doctest/", {"", ""}},
};

const Layer* layer_named(std::string_view name) {
    const auto place = std::ranges::find(layers, name, &Layer::name);
    return place == layers.end() ? nullptr : &*place;
}

std::string_view first_part(std::string_view path) {
    return path.substr(0, path.find('/'));
}

// Of `src/store/rows.hpp`: store. Files directly in src are main.
std::string_view folder_of(std::string_view path) {
    path.remove_prefix(std::min(path.size(), std::string_view{"src/"}.size()));
    return path.find('/') == std::string_view::npos ? "main" : first_part(path);
}

// Of `chains/votes/rest/rest_chain.hpp`: chains/votes. Of `chains/split_gateway.hpp`: chains.
std::string_view part_of(std::string_view path) {
    const std::size_t first = path.find('/');
    if (first == std::string_view::npos) return path;
    const std::size_t second = path.find('/', first + 1);
    return path.substr(0, second == std::string_view::npos ? first : second);
}

std::string_view below_src(std::string_view path) {
    return path.substr(std::min(path.size(), std::string_view{"src/"}.size()));
}

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t");
    return begin == std::string_view::npos ? std::string_view{} : text.substr(begin);
}

// The name between the brackets or quotes, and which of both; empty for other lines.
struct Include {
    std::string_view name;
    bool quoted = false;
};

Include include_of(std::string_view line) {
    line = trimmed(line);
    if (!line.starts_with('#')) return {};
    line = trimmed(line.substr(1));
    if (!line.starts_with("include")) return {};
    line = trimmed(line.substr(std::string_view{"include"}.size()));
    if (line.empty()) return {};
    const bool quoted = line.front() == '"';
    if (!quoted && line.front() != '<') return {};
    line.remove_prefix(1);
    return {line.substr(0, line.find(quoted ? '"' : '>')), quoted};
}

// Of two parts of one layer.
std::string violation_between(std::string_view from, std::string_view to) {
    if (from == to) return {};
    const auto find = [](std::string_view name) {
        return std::ranges::find(parts, name, &Layer::name);
    };
    for (const std::string_view name : {from, to}) {
        if (find(name) == parts.end()) return std::string{name} + " has no place in its layer";
    }
    if (find(to)->rank < find(from)->rank) return {};
    return std::string{from} + " includes " + std::string{to};
}

// Folder is namespace: a/b opens a::b, and what it likes inside. Other libraries may be
// declared, and so may the classes of another folder.
std::string violation_of_namespace(std::string_view path, std::string_view line) {
    constexpr std::string_view keyword = "namespace ";
    if (!line.starts_with(keyword) || !line.ends_with(" {")) return {};
    const std::string_view name = line.substr(keyword.size(), line.size() - keyword.size() - 2);
    const std::size_t end = path.rfind('/');
    if (end == std::string_view::npos) return {};  // main
    std::string expected;
    for (const char c : path.substr(0, end)) expected += c == '/' ? "::" : std::string(1, c);
    if (name == expected || name.starts_with(expected + "::")) return {};
    if (name.find(':') == std::string_view::npos && layer_named(name) == nullptr) return {};
    return "namespace " + std::string{name} + " instead of " + expected;
}

bool only_declares(std::string_view line) {
    return line.empty() ||
           ((line.starts_with("class ") || line.starts_with("struct ")) && line.ends_with(';'));
}

std::string violation_of(const Layer& from, std::string_view path, const Include& include) {
    const std::string name{include.name};
    for (const Library& library : libraries) {
        if (!include.name.starts_with(library.start)) continue;
        if (std::ranges::find(library.homes, from.name) != library.homes.end()) return {};
        return std::string{from.name} + " includes <" + name + ">, which is not at home there";
    }
    if (!include.quoted) return {};
    if (include.name.starts_with("./") || include.name.find("../") != std::string_view::npos) {
        return "relative include \"" + name + "\"";
    }
    if (include.name.find('/') == std::string_view::npos) {
        return "include \"" + name + "\" is not rooted at src";
    }
    const Layer* to = layer_named(first_part(include.name));
    if (to == nullptr) return "include \"" + name + "\" is not rooted at src";
    if (to->name == from.name) return violation_between(part_of(path), part_of(include.name));
    if (to->rank < from.rank) return {};
    return std::string{from.name} + " includes " + std::string{to->name};
}

}  // namespace

std::vector<std::string> violations_in(std::string_view path, std::string_view text) {
    const Layer* from = layer_named(folder_of(path));
    if (from == nullptr) return {std::string{path} + ": stands in no known layer"};
    std::vector<std::string> violations;
    std::istringstream lines{std::string{text}};
    std::size_t number = 0;
    std::string opened;  // of the foreign namespace around these lines
    for (std::string line; std::getline(lines, line);) {
        ++number;
        const auto located = [&](const std::string& violation) {
            return std::string{path} + ":" + std::to_string(number) + ": " + violation;
        };
        if (const Include include = include_of(line); !include.name.empty()) {
            const auto violation = violation_of(*from, below_src(path), include);
            if (!violation.empty()) violations.push_back(located(violation));
        } else if (const auto foreign = violation_of_namespace(below_src(path), line);
                   !foreign.empty()) {
            opened = located(foreign);
        } else if (line.starts_with('}')) {
            opened.clear();
        } else if (!opened.empty() && !only_declares(line)) {
            violations.push_back(std::exchange(opened, {}));
        }
    }
    return violations;
}

std::vector<std::string> violations_below(const std::filesystem::path& root) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator{root / "src"}) {
        const auto extension = entry.path().extension();
        if (extension == ".hpp" || extension == ".cpp") files.push_back(entry.path());
    }
    std::ranges::sort(files);
    std::vector<std::string> violations;
    for (const std::filesystem::path& file : files) {
        std::ifstream stream{file};
        const std::string text{std::istreambuf_iterator<char>{stream}, {}};
        const std::string path = std::filesystem::relative(file, root).generic_string();
        std::ranges::move(violations_in(path, text), std::back_inserter(violations));
    }
    return violations;
}

}  // namespace architecture
