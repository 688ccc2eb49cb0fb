#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace api {

enum class JsonType : std::uint8_t { null, boolean, number, string, array, object };

// Why a text is no JSON, and where: at the byte that can not stand there.
struct JsonProblem {
    std::string_view what;
    std::size_t offset = 0;
    std::size_t line = 1;
    std::size_t column = 1;  // in characters
};

// For whoever wrote the text: "expected four hexadecimal digits at line 2, column 17".
[[nodiscard]] std::string text_of(const JsonProblem& problem);

// One value as the reader met it; children follow their parent.
struct JsonNode {
    std::string_view text;
    std::uint32_t span = 1;  // nodes from here to the next sibling
    std::uint32_t size = 0;
    JsonType type = JsonType::null;
};

struct JsonMember;
template <typename Item>
class JsonRange;

// A value of a JsonDocument, which must outlive it. Cheap to copy.
class JsonValue {
public:
    explicit JsonValue(const JsonNode* node) : node_(node) {}

    [[nodiscard]] JsonType type() const { return node_->type; }
    [[nodiscard]] bool is(JsonType type) const { return node_->type == type; }

    // Strings without quotes and escapes, numbers and literals letter by letter as sent.
    [[nodiscard]] std::string_view text() const { return node_->text; }

    // Elements of an array, members of an object.
    [[nodiscard]] std::uint32_t size() const { return node_->size; }

    [[nodiscard]] JsonRange<JsonValue> elements() const;
    [[nodiscard]] JsonRange<JsonMember> members() const;
    [[nodiscard]] std::optional<JsonValue> find(std::string_view name) const;

    // The member must be there.
    [[nodiscard]] JsonValue operator[](std::string_view name) const;

private:
    const JsonNode* node_;
};

struct JsonMember {
    std::string_view name;
    JsonValue value;
};

// What lies in a value, one Item after the other.
template <typename Item>
class JsonRange {
public:
    class Iterator {
    public:
        explicit Iterator(const JsonNode* node) : node_(node) {}
        Item operator*() const {
            if constexpr (is_member) {
                return {node_->text, JsonValue(node_ + 1)};
            } else {
                return JsonValue(node_);
            }
        }
        Iterator& operator++() {
            node_ += is_member ? 1 + (node_ + 1)->span : node_->span;
            return *this;
        }
        bool operator==(const Iterator&) const = default;

    private:
        static constexpr bool is_member = std::is_same_v<Item, JsonMember>;
        const JsonNode* node_;
    };

    explicit JsonRange(const JsonNode* around) : around_(around) {}
    [[nodiscard]] Iterator begin() const { return Iterator(around_ + 1); }
    [[nodiscard]] Iterator end() const { return Iterator(around_ + around_->span); }

private:
    const JsonNode* around_;
};

inline JsonRange<JsonValue> JsonValue::elements() const {
    return JsonRange<JsonValue>(node_);
}
inline JsonRange<JsonMember> JsonValue::members() const {
    return JsonRange<JsonMember>(node_);
}

// One JSON text (RFC 8259), read once into a flat list of views of it: the text must outlive the
// document. Stricter than the RFC where leniency hurts: valid UTF-8, no byte order mark, no lone
// surrogates, no name twice in one object at any depth, no number beyond the range of a double, and
// the bounds below. Numbers are kept letter by letter.
class JsonDocument {
public:
    static constexpr int depth_max = 32;
    static constexpr std::size_t values_max = 200'000;

    [[nodiscard]] JsonValue root() const { return JsonValue(nodes_.data()); }

private:
    friend std::variant<JsonDocument, JsonProblem> read_json(std::string_view);
    JsonDocument(std::vector<JsonNode> nodes, std::unique_ptr<char[]> unescaped)
        : nodes_(std::move(nodes)), unescaped_(std::move(unescaped)) {}

    std::vector<JsonNode> nodes_;
    std::unique_ptr<char[]> unescaped_;  // strings that held escapes
};

[[nodiscard]] std::variant<JsonDocument, JsonProblem> read_json(std::string_view text);

}  // namespace api
