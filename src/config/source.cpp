#include "config/source.hpp"

#include <toml++/toml.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <fstream>
#include <sstream>
#include <system_error>

#include "base/may_pass.hpp"
#include "base/sanitize.hpp"
#include "base/text.hpp"
#include "config/keys.hpp"
#include "config/nearest.hpp"
#include "config/quantities.hpp"
#include "platform/log.hpp"

namespace config {
namespace {

constexpr std::size_t file_bytes_max = std::size_t{1} << 20U;

char upper(char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

std::string at_line(const std::string& file, const toml::source_region& region) {
    return file + ":" + std::to_string(region.begin.line);
}

Node node_of(const toml::node& node, const std::string& file);

Node table_of(const toml::table& table, const std::string& origin, const std::string& file) {
    Node::Table members;
    for (const auto& [name, child] : table) {
        Node member = node_of(child, file);
        // The name may stand lines above what it names, and is what the reader looks for.
        member.origin = at_line(file, name.source());
        members.emplace(std::string{name.str()}, std::move(member));
    }
    return {origin, std::move(members)};
}

std::variant<domain::Timestamp, Unsupported> time_of(const toml::date_time& time) {
    std::ostringstream text;
    text << time;
    const auto parsed = time.is_local() ? std::nullopt : parse_time(text.str());
    if (!parsed) return Unsupported{"a date and time without an offset"};
    return *parsed;
}

Node node_of(const toml::node& node, const std::string& file) {
    std::string origin = at_line(file, node.source());
    if (const auto* table = node.as_table()) return table_of(*table, origin, file);
    if (const auto* array = node.as_array()) {
        Node::List list;
        for (const toml::node& element : *array) list.push_back(node_of(element, file));
        return {std::move(origin), std::move(list)};
    }
    if (const auto* value = node.as_boolean()) return {std::move(origin), value->get()};
    if (const auto* value = node.as_integer()) return {std::move(origin), value->get()};
    if (const auto* value = node.as_floating_point()) return {std::move(origin), value->get()};
    if (const auto* value = node.as_string()) return {std::move(origin), value->get()};
    if (const auto* value = node.as_date_time()) {
        const auto time = time_of(value->get());
        if (const auto* moment = std::get_if<domain::Timestamp>(&time)) {
            return {std::move(origin), *moment};
        }
        return {std::move(origin), std::get<Unsupported>(time)};
    }
    return {std::move(origin), Unsupported{"a date or a time alone"}};
}

bool is_known_word(std::string_view name) {
    return std::ranges::any_of(keys(), [name](const Key& key) {
        const std::string padded = "." + key.name + ".";
        return padded.find("." + std::string{name} + ".") != std::string::npos;
    });
}

// What the parser quotes may be part of a secret: only names of keys are left.
std::string without_values(std::string_view description) {
    std::string out;
    while (!description.empty()) {
        const std::size_t open = description.find_first_of("'\"");
        out += description.substr(0, open);
        if (open == std::string_view::npos) break;
        const char quote = description[open];
        description.remove_prefix(open + 1);
        const std::size_t close = description.rfind(quote);
        const std::size_t next = description.find(quote);
        const bool name =
            next != std::string_view::npos && is_known_word(description.substr(0, next));
        const std::size_t end = name ? next : close;
        out += name ? "'" + std::string{description.substr(0, next)} + "'" : "'…'";
        if (end == std::string_view::npos) break;
        description.remove_prefix(end + 1);
    }
    return out;
}

bool is_platform_variable(std::string_view rest) {
    return rest == "port" || rest.starts_with("port_") || rest.starts_with("service_");
}

// `name`: of the variable, prefix included.
bool is_ours(std::string_view name, const std::vector<std::string>& path) {
    return name.find("__") != std::string_view::npos || is_table(path.front()) ||
           find_key(path.front()) != nullptr || find_table_list(path.front()) != nullptr;
}

std::vector<std::string> path_of(std::string_view rest) {
    std::vector<std::string> path;
    for (;;) {
        const std::size_t cut = rest.find("__");
        path.emplace_back(rest.substr(0, cut));
        if (cut == std::string_view::npos) return path;
        rest.remove_prefix(cut + 2);
    }
}

}  // namespace

Environment process_environment() {
    Environment all;
    for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text{*entry};
        const std::size_t equals = text.find('=');
        if (equals == std::string_view::npos) continue;
        all.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
    return all;
}

std::variant<Node, std::string> read_file(const std::filesystem::path& path) {
    const std::string name = path.string();
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) return name + ": is a directory";
    errno = 0;
    std::ifstream file{path, std::ios::binary};
    if (!file) {
        const std::error_code reason{errno, std::generic_category()};
        if (base::may_pass(reason.value()))
            throw std::system_error(reason, name + " can not be read");
        return name + ": can not be read: " + reason.message();
    }
    std::string text(file_bytes_max + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (file.bad()) return name + ": can not be read";
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (text.size() > file_bytes_max) {
        return name + ": is larger than " + std::to_string(file_bytes_max) + " bytes";
    }
    return read_toml(text, name);
}

std::variant<Node, std::string> read_toml(std::string_view text, const std::string& file_name) {
    try {
        const toml::table table = toml::parse(text, file_name);
        return table_of(table, file_name, file_name);
    } catch (const toml::parse_error& error) {
        return at_line(file_name, error.source()) +
               ": is not TOML: " + without_values(error.description());
    }
}

Node read_environment(const Environment& environment, std::vector<std::string>& errors,
                      std::vector<std::string>& warnings) {
    Node root{"the environment", Node::Table{}};
    const std::string prefix = base::lower_case(variable_prefix);
    for (const auto& [raw_name, value] : environment) {
        const std::string lowered = base::lower_case(raw_name);
        const std::string name = platform::printable(raw_name);
        if (!lowered.starts_with(prefix)) continue;
        const std::string_view rest = std::string_view{lowered}.substr(prefix.size());
        if (is_platform_variable(rest)) continue;
        const std::vector<std::string> path = path_of(rest);
        if (!is_ours(lowered, path)) {
            warnings.push_back("variable_unknown name=" + base::log_value(name) +
                               " action=\"left out\" hint=\"did you mean " +
                               variable_of(nearest_key(rest)) + "?\"");
            continue;
        }
        if (std::ranges::any_of(path, [](const std::string& part) { return part.empty(); })) {
            errors.push_back(name + ": names no key; write " + variable_of("http.endpoint") +
                             " for http.endpoint");
            continue;
        }
        if (!plant(root, path, Node{name, Raw{value}})) {
            errors.push_back(name + ": is given twice, or both as a whole and in parts");
        }
    }
    return root;
}

std::string variable_of(std::string_view key) {
    std::string out{variable_prefix};
    for (std::size_t i = 0; i < key.size(); ++i) {
        const char c = key[i];
        if (c == '.') {
            out += "__";
        } else if (c == '[') {
            out += key.substr(i).starts_with("[]") ? "__N" : "__";
        } else if (c != ']') {
            out += upper(c);
        }
    }
    return out;
}

}  // namespace config
