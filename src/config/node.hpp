#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "domain/time.hpp"

namespace config {

// Text from outside the file: the key it is for decides what it means.
struct Raw {
    std::string text;
};

// A TOML value no key takes, such as a date without an offset.
struct Unsupported {
    std::string what;
};

// One value of the configuration and where it was said.
struct Node {
    using List = std::vector<Node>;
    using Table = std::map<std::string, Node>;

    std::string origin;  // `FILE:LINE`, the variable, the flag
    std::variant<bool, std::int64_t, double, std::string, Raw, domain::Timestamp, Unsupported, List,
                 Table>
        value;
};

// Puts `text` at `path`, making the tables on the way. False when something else stands there.
[[nodiscard]] bool plant(Node& root, const std::vector<std::string>& path, const Node& leaf);

// Lays `over` on `base`: tables join key by key, everything else is replaced, and so is a table
// whose path is `whole`.
void overlay(Node& base, Node over, const std::function<bool(std::string_view path)>& whole);

// The elements of a list or of a table with the keys 0, 1, 2 …; the text [] is an empty list.
// Nothing when it is none of these.
[[nodiscard]] std::optional<std::vector<const Node*>> elements_of(const Node& node);

// A value that was set, by its plain path (`a.b`); and the same if it is text.
[[nodiscard]] const Node* find(const Node& root, std::string_view path);
[[nodiscard]] std::optional<std::string> text_at(const Node& root, std::string_view path);

// `the number 5`, `the text "x"`, `a list` …; control characters are escaped, long text is cut.
[[nodiscard]] std::string describe(const Node& node);
// The same without the value.
[[nodiscard]] std::string_view kind_of(const Node& node);
[[nodiscard]] std::string in_quotes(std::string_view text);

}  // namespace config
