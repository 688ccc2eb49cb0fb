#include "config/example.hpp"

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string_view>
#include <vector>

#include "config/keys.hpp"

namespace config {
namespace {

constexpr std::string_view head =
    R"(# Configuration of Posthouse: every key, with its default. No key is needed.
# `posthouse serve --config FILE` reads such a file, `posthouse check --config FILE` only looks for
# mistakes in it.
#
# Each key can be given by environment too: POSTHOUSE_HTTP__ENDPOINT is http.endpoint, and
# POSTHOUSE_HOST_CHAINS__0__CHAIN_ID the id of the first host chain. A list given that way replaces
# the whole list of the file. Flags beat variables, variables beat the file.
#
# Durations are texts such as "250ms", "30s", "5m", "1h 30m", "7d". Lines that begin with # and no
# space are keys that are off by default or have no effect in this build, with a sample.
)";

constexpr std::size_t width = 100;

// Comment lines of at most `width` columns.
void comment(std::ostringstream& out, const std::string& text) {
    std::istringstream words{text};
    std::string line = "#";
    for (std::string word; words >> word;) {
        if (line.size() + 1 + word.size() > width) {
            out << line << '\n';
            line = "#";
        }
        line += " " + word;
    }
    out << line << '\n';
}

std::string_view effect_text(Effect effect) {
    switch (effect) {
        case Effect::full:
        case Effect::makes_node:
            return "";
        case Effect::needs_chain:
            return " No effect with the loopback gateway.";
        case Effect::needs_vote_chain:
            return " Only with a vote chain.";
        case Effect::needs_postgresql:
            return " No effect, PostgreSQL is not used.";
        case Effect::superseded:
            return " No effect.";
        case Effect::obsolete:
            return "";
    }
    return "";
}

// `a.b` of `a.b.c`; `a[]` of `a[].c`.
std::string table_of(const std::string& name) {
    return name.substr(0, name.rfind('.'));
}
std::string last_part(const std::string& name) {
    return name.substr(name.rfind('.') + 1);
}

bool in_list(const std::string& name) {
    return name.find("[]") != std::string::npos;
}

const TableList* list_of(const std::string& name) {
    return find_table_list(name.substr(0, name.find("[]")));
}

bool is_there(const Key& key, const Settings& defaults) {
    return !in_list(key.name) || list_of(key.name)->size(defaults) > 0;
}

// Of a list without entries the sample has the defaults of one.
bool has_default(const Key& key, const Settings& defaults) {
    const bool in_sample = !key.required && !key.sample.empty();
    return key.show && (is_there(key, defaults) || in_sample);
}

// Shown with a value that is in force, not as a comment.
bool is_live(const Key& key, const Settings& defaults) {
    return key.effect == Effect::full && has_default(key, defaults);
}

std::string value_of(const Key& key, const Settings& defaults) {
    return key.show && is_there(key, defaults) ? key.show(defaults, 0) : key.sample;
}

void describe_key(std::ostringstream& out, const Key& key, const Settings& defaults) {
    comment(out, key.doc + std::string{effect_text(key.effect)});
    std::string facts;
    if (!key.unit.empty()) facts += "Unit: " + key.unit + ". ";
    facts += has_default(key, defaults) ? "Default: " + value_of(key, defaults) + ". "
                                        : "Default: none. ";
    facts += "Allowed: " + key.allowed + ".";
    comment(out, facts);
}

void open_table(std::ostringstream& out, const std::string& table, bool live,
                const TableList* list) {
    out << '\n';
    const std::string mark = live ? "" : "#";
    if (list == nullptr) {
        out << mark << '[' << table << "]\n";
        return;
    }
    comment(out, list->doc + " Entries: " + std::to_string(list->entries_min) + " to " +
                     std::to_string(list->entries_max) + ".");
    out << mark << "[[" << list->name << "]]\n";
}

}  // namespace

std::string example() {
    const Settings defaults;
    std::ostringstream out;
    out << head;

    std::vector<std::string> tables;
    for (const Key& key : keys()) {
        const std::string table = table_of(key.name);
        if (std::ranges::find(tables, table) == tables.end()) tables.push_back(table);
    }
    for (const std::string& table : tables) {
        bool live = false;
        for (const Key& key : keys()) {
            live = live || (table_of(key.name) == table && is_live(key, defaults));
        }
        open_table(out, table, live, in_list(table) ? list_of(table) : nullptr);
        for (const Key& key : keys()) {
            if (table_of(key.name) != table) continue;
            describe_key(out, key, defaults);
            out << (is_live(key, defaults) ? "" : "#") << last_part(key.name) << " = "
                << value_of(key, defaults) << '\n';
        }
    }
    return out.str();
}

}  // namespace config
