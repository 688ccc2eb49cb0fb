#include "config/node.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include "platform/log.hpp"

namespace config {
namespace {

void overlay_at(Node& base, Node over, const std::string& path,
                const std::function<bool(std::string_view)>& whole) {
    auto* base_table = std::get_if<Node::Table>(&base.value);
    auto* over_table = std::get_if<Node::Table>(&over.value);
    if (base_table == nullptr || over_table == nullptr || whole(path)) {
        base = std::move(over);
        return;
    }
    for (auto& [name, child] : *over_table) {
        const auto place = base_table->find(name);
        if (place == base_table->end()) {
            base_table->emplace(name, std::move(child));
        } else {
            overlay_at(place->second, std::move(child), path.empty() ? name : path + "." + name,
                       whole);
        }
    }
}

struct Describer {
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(std::int64_t value) const {
        return "the number " + std::to_string(value);
    }
    std::string operator()(double value) const {
        std::ostringstream out;
        out << "the number " << value;
        return out.str();
    }
    std::string operator()(const std::string& value) const {
        return "the text " + in_quotes(value);
    }
    std::string operator()(const Raw& value) const { return in_quotes(value.text); }
    std::string operator()(domain::Timestamp) const { return "a date"; }
    std::string operator()(const Unsupported& value) const { return value.what; }
    std::string operator()(const Node::List&) const { return "a list"; }
    std::string operator()(const Node::Table&) const { return "a table"; }
};

}  // namespace

bool plant(Node& root, const std::vector<std::string>& path, const Node& leaf) {
    Node* place = &root;
    for (std::size_t i = 0; i < path.size(); ++i) {
        auto* table = std::get_if<Node::Table>(&place->value);
        if (table == nullptr) return false;
        const bool last = i + 1 == path.size();
        const auto [child, fresh] =
            table->try_emplace(path[i], last ? leaf : Node{leaf.origin, Node::Table{}});
        if (last) return fresh;
        place = &child->second;
    }
    return false;
}

void overlay(Node& base, Node over, const std::function<bool(std::string_view path)>& whole) {
    overlay_at(base, std::move(over), "", whole);
}

std::optional<std::vector<const Node*>> elements_of(const Node& node) {
    std::vector<const Node*> elements;
    if (const auto* list = std::get_if<Node::List>(&node.value)) {
        for (const Node& element : *list) elements.push_back(&element);
        return elements;
    }
    if (const auto* raw = std::get_if<Raw>(&node.value); raw != nullptr && raw->text == "[]") {
        return elements;
    }
    const auto* table = std::get_if<Node::Table>(&node.value);
    if (table == nullptr) return std::nullopt;
    for (std::size_t i = 0; i < table->size(); ++i) {
        const auto element = table->find(std::to_string(i));
        if (element == table->end()) return std::nullopt;
        elements.push_back(&element->second);
    }
    return elements;
}

const Node* find(const Node& root, std::string_view path) {
    const Node* place = &root;
    while (place != nullptr) {
        const std::size_t dot = path.find('.');
        const auto* table = std::get_if<Node::Table>(&place->value);
        if (table == nullptr) return nullptr;
        const auto child = table->find(std::string{path.substr(0, dot)});
        place = child == table->end() ? nullptr : &child->second;
        if (dot == std::string_view::npos) break;
        path.remove_prefix(dot + 1);
    }
    return place;
}

std::optional<std::string> text_at(const Node& root, std::string_view path) {
    const Node* node = find(root, path);
    if (node == nullptr) return std::nullopt;
    if (const auto* text = std::get_if<std::string>(&node->value)) return *text;
    if (const auto* raw = std::get_if<Raw>(&node->value)) return raw->text;
    return std::nullopt;
}

std::string describe(const Node& node) {
    return std::visit(Describer{}, node.value);
}

std::string_view kind_of(const Node& node) {
    if (std::holds_alternative<bool>(node.value)) return "true or false";
    if (std::holds_alternative<std::int64_t>(node.value)) return "a whole number";
    if (std::holds_alternative<double>(node.value)) return "a decimal number";
    if (std::holds_alternative<Node::List>(node.value)) return "a list";
    if (std::holds_alternative<Node::Table>(node.value)) return "a table";
    if (std::holds_alternative<std::string>(node.value)) return "text";
    if (std::holds_alternative<Raw>(node.value)) return "text";
    return "a date or time";
}

std::string in_quotes(std::string_view text) {
    constexpr std::size_t shown_max = 60;
    std::size_t shown = std::min(text.size(), shown_max);
    // Not in the middle of a character.
    while (shown > 0 && shown < text.size() && (text[shown] & 0xC0) == 0x80) --shown;
    std::string out = "\"" + platform::printable(text.substr(0, shown));
    out += shown < text.size() ? "…\"" : "\"";
    return out;
}

}  // namespace config
