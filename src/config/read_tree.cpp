#include "config/read_tree.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "config/keys.hpp"
#include "config/nearest.hpp"
#include "config/source.hpp"

namespace config {
namespace {

// Where the walk stands: as the reader wrote it, and as the table of keys knows it.
struct Path {
    std::string shown;    // host_chains[0].url
    std::string pattern;  // host_chains[].url
    std::size_t index = 0;

    [[nodiscard]] Path member(const std::string& name) const {
        const std::string dot = shown.empty() ? "" : ".";
        return {shown + dot + name, pattern + dot + name, index};
    }
    [[nodiscard]] Path element(std::size_t i) const {
        return {shown + "[" + std::to_string(i) + "]", pattern + "[]", i};
    }
};

class Walk {
public:
    Walk(Settings& settings, Findings& findings) : settings_(settings), findings_(findings) {}

    void members(const Node::Table& table, const Path& path) {
        for (const auto& [name, child] : table) any(child, path.member(name));
    }

private:
    void any(const Node& node, const Path& path) {
        if (const Key* key = find_key(path.pattern)) {
            value(node, path, *key);
        } else if (const TableList* list = find_table_list(path.pattern)) {
            elements(node, path, *list);
        } else if (is_table(path.pattern)) {
            if (const auto* table = std::get_if<Node::Table>(&node.value)) {
                members(*table, path);
            } else {
                findings_.error(node.origin, path.shown,
                                "must be a table, is " + std::string{kind_of(node)},
                                "[" + path.shown + "] and keys below it");
            }
        } else {
            unknown(node, path);
        }
    }

    void value(const Node& node, const Path& path, const Key& key) {
        findings_.origins.emplace(path.shown, node.origin);
        if (const auto problem = key.read(settings_, path.index, node)) {
            findings_.error(problem->origin.empty() ? node.origin : problem->origin,
                            path.shown + problem->place, problem->what, key.allowed);
        }
    }

    void elements(const Node& node, const Path& path, const TableList& list) {
        const std::string allowed = std::to_string(list.entries_min) + " to " +
                                    std::to_string(list.entries_max) + " entries, each a table";
        const auto found = elements_of(node);
        if (!found) {
            findings_.error(node.origin, path.shown,
                            std::holds_alternative<Node::Table>(node.value)
                                ? "the indexes must count 0, 1, 2 …"
                                : "must be a list of tables, is " + std::string{kind_of(node)},
                            allowed);
            return;
        }
        if (found->size() < list.entries_min || found->size() > list.entries_max) {
            findings_.error(node.origin, path.shown,
                            "has " + std::to_string(found->size()) + " entries", allowed);
            if (found->size() > list.entries_max) return;
        }
        list.resize(settings_, found->size());
        for (std::size_t i = 0; i < found->size(); ++i) {
            element(*(*found)[i], path.element(i));
        }
    }

    void element(const Node& node, const Path& path) {
        const auto* table = std::get_if<Node::Table>(&node.value);
        if (table == nullptr) {
            findings_.error(node.origin, path.shown,
                            "must be a table, is " + std::string{kind_of(node)},
                            "a table such as {" + members_of(path.pattern) + "}");
            return;
        }
        members(*table, path);
        for (const Key& key : keys()) {
            const std::string start = path.pattern + ".";
            if (!key.required || !key.name.starts_with(start)) continue;
            const std::string name = key.name.substr(start.size());
            if (table->contains(name)) continue;
            findings_.error(node.origin, path.shown + "." + name, "is missing", key.allowed);
        }
    }

    static std::string members_of(const std::string& pattern) {
        std::string out;
        const std::string start = pattern + ".";
        for (const Key& key : keys()) {
            if (!key.name.starts_with(start)) continue;
            out += (out.empty() ? "" : ", ") + key.name.substr(start.size()) + " = …";
        }
        return out;
    }

    // Every leaf is named, so that a mistyped table shows where each of its keys belongs.
    void unknown(const Node& node, const Path& path) {
        if (const auto* table = std::get_if<Node::Table>(&node.value); table && !table->empty()) {
            for (const auto& [name, child] : *table) unknown(child, path.member(name));
            return;
        }
        const bool variable = node.origin.size() > variable_prefix.size() &&
                              node.origin.find(':') == std::string::npos;
        const bool table = std::holds_alternative<Node::Table>(node.value);
        const std::string nearest = table ? nearest_table(path.shown) : nearest_key(path.shown);
        std::string hint = "is no known key, did you mean " + nearest;
        if (variable) hint += " (" + variable_of(nearest) + ")";
        findings_.error(node.origin, quotes_if_needed(path.shown), hint + "?", "");
    }

    static std::string quotes_if_needed(const std::string& name) {
        constexpr std::string_view plain =
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.[]";
        constexpr std::size_t shown_max = 200;
        const bool fine =
            name.size() <= shown_max && name.find_first_not_of(plain) == std::string::npos;
        return fine ? name : in_quotes(name);
    }

    Settings& settings_;
    Findings& findings_;
};

}  // namespace

void Findings::error(const std::string& origin, const std::string& key, const std::string& problem,
                     const std::string& allowed) {
    std::string text = key + ": " + problem;
    if (!allowed.empty()) text += "; allowed: " + allowed;
    errors.push_back({origin, std::move(text)});
}

void Findings::error_where_set(std::initializer_list<std::string> keys, const std::string& problem,
                               const std::string& allowed) {
    for (const std::string& key : keys) {
        if (refused(key)) return;
    }
    for (const std::string& key : keys) {
        const auto origin = origins.find(key);
        if (origin == origins.end()) continue;
        error(origin->second, key, problem, allowed);
        return;
    }
}

bool Findings::refused(const std::string& key) const {
    return std::ranges::any_of(errors, [&](const Error& error) {
        return error.text.starts_with(key + ":") || error.text.starts_with(key + "[");
    });
}

bool is_open_to_others(const std::string& origin) {
    using std::filesystem::perms;
    std::error_code absent;
    const perms mode =
        std::filesystem::status(origin.substr(0, origin.rfind(':')), absent).permissions();
    return !absent && mode != perms::unknown && (mode & perms::others_all) != perms::none;
}

void read_tree(const Node& root, Settings& settings, Findings& findings) {
    Walk{settings, findings}.members(std::get<Node::Table>(root.value), {});
}

}  // namespace config
