#include "api/json_reader.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cstring>
#include <functional>
#include <limits>

// The library is compiled here, and here alone: nothing has to be linked.
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/src.hpp>

namespace api {

namespace {

namespace json = boost::json;

std::string_view std_view(json::string_view text) {
    return {text.data(), text.size()};
}

// Makes nodes of what the parser meets. Its functions return false to end the parse.
class NodeBuilder {
public:
    static constexpr std::size_t max_object_size = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t max_array_size = max_object_size;
    static constexpr std::size_t max_key_size = max_object_size;
    static constexpr std::size_t max_string_size = max_object_size;

    explicit NodeBuilder(std::string_view text) : text_(text) { nodes_.reserve(64); }

    // The rule of ours that ended the parse; empty: the parser had another reason.
    [[nodiscard]] std::string_view broken_rule() const { return broken_rule_; }
    // Where the rule was broken, if that is not where the parser stopped.
    [[nodiscard]] std::optional<std::size_t> broken_at() const { return broken_at_; }
    std::vector<JsonNode> take_nodes() { return std::move(nodes_); }
    std::unique_ptr<char[]> take_unescaped() { return std::move(unescaped_); }

    bool on_document_begin(json::error_code&) { return true; }
    bool on_document_end(json::error_code&) { return true; }
    bool on_object_begin(json::error_code& error) { return open(JsonType::object, error); }
    bool on_object_end(std::size_t size, json::error_code& error) {
        return names_differ(close(size)) || fail("an object has the same member twice", error);
    }
    bool on_array_begin(json::error_code& error) { return open(JsonType::array, error); }
    bool on_array_end(std::size_t size, json::error_code&) {
        close(size);
        return true;
    }
    bool on_key_part(json::string_view part, std::size_t size, json::error_code&) {
        return keep(std_view(part), size);
    }
    bool on_key(json::string_view last, std::size_t size, json::error_code& error) {
        return add(JsonType::string, whole(std_view(last), size), error);
    }
    bool on_string_part(json::string_view part, std::size_t size, json::error_code&) {
        return keep(std_view(part), size);
    }
    bool on_string(json::string_view last, std::size_t size, json::error_code& error) {
        return add(JsonType::string, whole(std_view(last), size), error);
    }
    // Only of a number that the end of the text cuts off.
    bool on_number_part(json::string_view, json::error_code&) { return true; }
    bool on_int64(std::int64_t, json::string_view number, json::error_code& error) {
        return add(JsonType::number, std_view(number), error);
    }
    bool on_uint64(std::uint64_t, json::string_view number, json::error_code& error) {
        return add(JsonType::number, std_view(number), error);
    }
    bool on_double(double, json::string_view number, json::error_code& error) {
        if (fits_double(std_view(number))) return add(JsonType::number, std_view(number), error);
        broken_at_ = place_in_text(std_view(number));
        return fail("the number is out of range", error);
    }
    bool on_bool(bool value, json::error_code& error) {
        return add(JsonType::boolean, value ? "true" : "false", error);
    }
    bool on_null(json::error_code& error) { return add(JsonType::null, "null", error); }
    bool on_comment_part(json::string_view, json::error_code&) { return true; }
    bool on_comment(json::string_view, json::error_code&) { return true; }

private:
    bool fail(std::string_view broken_rule, json::error_code& error) {
        broken_rule_ = broken_rule;
        error = json::error::exception;
        return false;
    }

    bool add(JsonType type, std::string_view text, json::error_code& error) {
        if (nodes_.size() >= JsonDocument::values_max) return fail("too many values", error);
        nodes_.push_back({text, 1, 0, type});
        return true;
    }

    bool open(JsonType type, json::error_code& error) {
        assert(depth_ < open_.size());
        open_[depth_++] = nodes_.size();
        return add(type, {}, error);
    }

    std::size_t close(std::size_t size) {
        assert(depth_ > 0);
        const std::size_t index = open_[--depth_];
        nodes_[index].size = static_cast<std::uint32_t>(size);
        nodes_[index].span = static_cast<std::uint32_t>(nodes_.size() - index);
        return index;
    }

    // A piece of a string that has escapes, which the parser hands out in pieces; `size` is that of
    // the string so far.
    bool keep(std::string_view piece, std::size_t size) {
        if (!unescaped_) unescaped_ = std::make_unique_for_overwrite<char[]>(text_.size());
        assert(unescaped_size_ + piece.size() <= text_.size());
        std::memcpy(unescaped_.get() + unescaped_size_, piece.data(), piece.size());
        unescaped_size_ += piece.size();
        assert(size <= unescaped_size_);
        return true;
    }

    std::string_view whole(std::string_view last_piece, std::size_t size) {
        if (last_piece.size() == size && place_in_text(last_piece)) return last_piece;
        keep(last_piece, size);
        return {unescaped_.get() + unescaped_size_ - size, size};
    }

    // Nothing: it is a copy.
    [[nodiscard]] std::optional<std::size_t> place_in_text(std::string_view part) const {
        const std::less<const char*> before;
        const char* const end = text_.data() + text_.size();
        if (before(part.data(), text_.data()) || before(end, part.data())) return {};
        return static_cast<std::size_t>(part.data() - text_.data());
    }

    // Small objects pairwise, large ones sorted: hostile bodies must not cost the square.
    bool names_differ(std::size_t object) {
        constexpr std::size_t pairwise_max = 16;
        const JsonValue value(&nodes_[object]);
        if (value.size() <= pairwise_max) {
            std::array<std::string_view, pairwise_max> seen;
            std::size_t count = 0;
            for (const JsonMember& member : value.members()) {
                const auto end = seen.begin() + static_cast<std::ptrdiff_t>(count);
                const auto same = std::find(seen.begin(), end, member.name);
                if (same != end) return note_duplicate(*same, member.name);
                seen[count++] = member.name;
            }
            return true;
        }
        std::vector<std::string_view> names;
        names.reserve(value.size());
        for (const JsonMember& member : value.members()) names.push_back(member.name);
        std::sort(names.begin(), names.end());
        const auto same = std::adjacent_find(names.begin(), names.end());
        return same == names.end() || note_duplicate(*same, *std::next(same));
    }

    // The second of both is shown, if its place is known.
    bool note_duplicate(std::string_view name, std::string_view other) {
        const auto left = place_in_text(name);
        const auto right = place_in_text(other);
        if (left && right) broken_at_ = std::max(*left, *right) - 1;  // its quotation mark
        return false;
    }

    static bool fits_double(std::string_view number) {
        double value = 0;
        return std::from_chars(number.data(), number.data() + number.size(), value).ec ==
               std::errc{};
    }

    const std::string_view text_;
    std::vector<JsonNode> nodes_;
    std::array<std::size_t, JsonDocument::depth_max> open_{};
    std::size_t depth_ = 0;
    std::unique_ptr<char[]> unescaped_;  // escapes only shrink a string: never larger than the text
    std::size_t unescaped_size_ = 0;
    std::string_view broken_rule_;
    std::optional<std::size_t> broken_at_;
};

std::string_view what_stands_at(std::string_view text, std::size_t offset) {
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return "the body is empty";
    if (offset >= text.size()) return "the text ends too early";
    const auto byte = static_cast<unsigned char>(text[offset]);
    if (byte < 0x20) return "a bare control character";
    if (byte >= 0x80) return "neither ASCII nor UTF-8 inside a string";
    return "unexpected character";
}

std::string_view what_is_wrong(json::error error, std::string_view text, std::size_t offset) {
    switch (error) {
        case json::error::extra_data:
            return "text after the end of the value";
        case json::error::too_deep:
            return "nested too deeply";
        case json::error::exponent_overflow:
            return "the number is out of range";
        case json::error::expected_hex_digit:
            return offset < text.size() ? "expected four hexadecimal digits"
                                        : "the text ends too early";
        case json::error::illegal_leading_surrogate:
        case json::error::illegal_trailing_surrogate:
        case json::error::expected_utf16_escape:
            return "lone surrogate";
        default:
            return what_stands_at(text, offset);
    }
}

JsonProblem problem_at(std::size_t offset, std::string_view what, std::string_view text) {
    const std::string_view before = text.substr(0, offset);
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
    const auto begins_character = [](char byte) {
        return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
    };
    const auto in_line = before.substr(line_start);
    return {what, offset,
            1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')),
            1 + static_cast<std::size_t>(
                    std::count_if(in_line.begin(), in_line.end(), begins_character))};
}

}  // namespace

std::string text_of(const JsonProblem& problem) {
    return std::string(problem.what)
        .append(" at line ")
        .append(std::to_string(problem.line))
        .append(", column ")
        .append(std::to_string(problem.column));
}

std::optional<JsonValue> JsonValue::find(std::string_view name) const {
    for (const JsonMember& member : members()) {
        if (member.name == name) return member.value;
    }
    return {};
}

JsonValue JsonValue::operator[](std::string_view name) const {
    const std::optional<JsonValue> value = find(name);
    assert(value);
    return *value;
}

std::variant<JsonDocument, JsonProblem> read_json(std::string_view text) {
    json::parse_options options;
    options.max_depth = JsonDocument::depth_max;
    json::basic_parser<NodeBuilder> parser(options, text);
    json::error_code error;
    const std::size_t end = parser.write_some(false, text.data(), text.size(), error);
    if (!error && end < text.size()) error = json::error::extra_data;
    NodeBuilder& builder = parser.handler();
    if (!error) return JsonDocument(builder.take_nodes(), builder.take_unescaped());
    if (const std::string_view rule = builder.broken_rule(); !rule.empty()) {
        return problem_at(builder.broken_at().value_or(end), rule, text);
    }
    return problem_at(end, what_is_wrong(static_cast<json::error>(error.value()), text, end), text);
}

}  // namespace api
