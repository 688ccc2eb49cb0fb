#include "api/json_reader.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cstring>
#include <string>
#include <utility>

namespace api {

namespace {

constexpr std::uint64_t ones = 0x0101'0101'0101'0101;
constexpr std::uint64_t high_bits = 0x8080'8080'8080'8080;

std::uint64_t load_word(const char* from) {
    std::uint64_t word = 0;
    std::memcpy(&word, from, sizeof word);
    return word;
}

constexpr bool has_byte(std::uint64_t word, char byte) {
    const std::uint64_t zero_where_equal = word ^ (ones * static_cast<unsigned char>(byte));
    return ((zero_where_equal - ones) & ~zero_where_equal & high_bits) != 0;
}

constexpr bool has_control(std::uint64_t word) {
    return ((word - ones * 0x20) & ~word & high_bits) != 0;
}

bool ends_plain_run(char character) {
    return character == '"' || character == '\\' || static_cast<unsigned char>(character) < 0x20;
}

bool is_digit(char character) {
    return character >= '0' && character <= '9';
}

constexpr unsigned byte_at(std::string_view text, std::size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
}

// Bytes of the well-formed UTF-8 sequence at `at` (Unicode 15, table 3-7); 0 when there is none.
std::size_t utf8_length(std::string_view text, std::size_t at) {
    const unsigned lead = byte_at(text, at);
    const unsigned second = byte_at(text, at + 1);
    const auto follows = [&](std::size_t offset) {
        return (byte_at(text, at + offset) & 0xC0U) == 0x80U;
    };
    if (lead < 0x80) return 1;
    if (lead < 0xC2 || lead > 0xF4 || !follows(1)) return 0;
    if (lead < 0xE0) return 2;
    if (lead < 0xF0) {
        const bool overlong = lead == 0xE0 && second < 0xA0;
        const bool surrogate = lead == 0xED && second > 0x9F;
        return overlong || surrogate || !follows(2) ? 0 : 3;
    }
    const bool overlong = lead == 0xF0 && second < 0x90;
    const bool beyond = lead == 0xF4 && second > 0x8F;
    return overlong || beyond || !follows(2) || !follows(3) ? 0 : 4;
}

// Where the text stops being UTF-8; its size when it never does.
std::size_t utf8_end(std::string_view text) {
    std::size_t at = 0;
    while (at < text.size()) {
        if (at + sizeof(std::uint64_t) <= text.size() &&
            (load_word(text.data() + at) & high_bits) == 0) {
            at += sizeof(std::uint64_t);
            continue;
        }
        const std::size_t length = utf8_length(text, at);
        if (length == 0) return at;
        at += length;
    }
    return at;
}

class Reader {
public:
    explicit Reader(std::string_view text) : text_(text) { nodes_.reserve(64); }

    // Empty when the whole text is one value.
    std::optional<JsonProblem> read() {
        const std::size_t end = utf8_end(text_);
        if (end < text_.size()) return JsonProblem{"not UTF-8", end};
        skip_space();
        if (at_ == text_.size()) return JsonProblem{"the body is empty", at_};
        if (!read_value(0)) return problem_;
        skip_space();
        if (at_ < text_.size()) return JsonProblem{"text after the end of the value", at_};
        return {};
    }

    std::vector<JsonNode> take_nodes() { return std::move(nodes_); }
    std::unique_ptr<char[]> take_unescaped() { return std::move(unescaped_); }

private:
    bool fail(std::string_view what) {
        problem_ = {at_ < text_.size() ? what : "the text ends too early", at_};
        return false;
    }

    [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

    void skip_space() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' ||
                                      text_[at_] == '\r' || text_[at_] == '\t')) {
            ++at_;
        }
    }

    bool skip(char wanted, std::string_view otherwise) {
        skip_space();
        if (peek() != wanted) return fail(otherwise);
        ++at_;
        return true;
    }

    std::size_t add(JsonType type, std::string_view text = {}) {
        nodes_.push_back({text, 1, 0, type});
        return nodes_.size() - 1;
    }

    // `depth` counts the arrays and objects around the value.
    bool read_value(int depth) {
        if (nodes_.size() >= JsonDocument::values_max) return fail("too many values");
        switch (peek()) {
            case '{':
                return depth < JsonDocument::depth_max ? read_object(depth) : too_deep();
            case '[':
                return depth < JsonDocument::depth_max ? read_array(depth) : too_deep();
            case '"':
                return read_string();
            case 't':
                return read_literal("true", JsonType::boolean);
            case 'f':
                return read_literal("false", JsonType::boolean);
            case 'n':
                return read_literal("null", JsonType::null);
            default:
                return read_number();
        }
    }

    bool too_deep() { return fail("nested too deeply"); }

    void close(std::size_t node, std::uint32_t size) {
        nodes_[node].size = size;
        nodes_[node].span = static_cast<std::uint32_t>(nodes_.size() - node);
    }

    bool read_array(int depth) {
        const std::size_t array = add(JsonType::array);
        std::uint32_t size = 0;
        ++at_;
        skip_space();
        if (peek() == ']') {
            ++at_;
            return true;
        }
        while (true) {
            skip_space();
            if (!read_value(depth + 1)) return false;
            ++size;
            skip_space();
            if (peek() != ',') break;
            ++at_;
        }
        close(array, size);
        return skip(']', "expected , or ]");
    }

    bool read_object(int depth) {
        const std::size_t object = add(JsonType::object);
        std::uint32_t size = 0;
        ++at_;
        skip_space();
        if (peek() == '}') {
            ++at_;
            return true;
        }
        while (true) {
            skip_space();
            if (peek() != '"') return fail("expected the name of a member");
            if (!read_string() || !skip(':', "expected :")) return false;
            skip_space();
            if (!read_value(depth + 1)) return false;
            ++size;
            skip_space();
            if (peek() != ',') break;
            ++at_;
        }
        close(object, size);
        return skip('}', "expected , or }") && has_no_twins(object);
    }

    // Small objects pairwise, large ones sorted: hostile bodies must not cost the square.
    bool has_no_twins(std::size_t object) {
        constexpr std::size_t pairwise_max = 16;
        const JsonValue value(&nodes_[object]);
        if (value.size() <= pairwise_max) {
            std::array<std::string_view, pairwise_max> seen;
            std::size_t count = 0;
            for (const JsonMember& member : value.members()) {
                const auto end = seen.begin() + static_cast<std::ptrdiff_t>(count);
                if (std::find(seen.begin(), end, member.name) != end) return twin();
                seen[count++] = member.name;
            }
            return true;
        }
        std::vector<std::string_view> names;
        names.reserve(value.size());
        for (const JsonMember& member : value.members()) names.push_back(member.name);
        std::sort(names.begin(), names.end());
        return std::adjacent_find(names.begin(), names.end()) == names.end() || twin();
    }

    bool twin() {
        problem_ = {"an object has the same member twice", at_};
        return false;
    }

    bool read_literal(std::string_view word, JsonType type) {
        if (text_.substr(at_, word.size()) != word) return fail("expected a value");
        add(type, text_.substr(at_, word.size()));
        at_ += word.size();
        return true;
    }

    bool read_number() {
        const std::size_t start = at_;
        if (peek() == '-') ++at_;
        if (!is_digit(peek())) return fail("expected a value");
        if (peek() == '0') {
            ++at_;
        } else {
            skip_digits();
        }
        if (peek() == '.') {
            ++at_;
            if (!is_digit(peek())) return fail("expected a digit");
            skip_digits();
        }
        if (peek() == 'e' || peek() == 'E') {
            ++at_;
            if (peek() == '+' || peek() == '-') ++at_;
            if (!is_digit(peek())) return fail("expected a digit");
            skip_digits();
        }
        const std::string_view number = text_.substr(start, at_ - start);
        if (!fits_double(number)) return fail_at(start, "the number is out of range");
        add(JsonType::number, number);
        return true;
    }

    bool fail_at(std::size_t offset, std::string_view what) {
        problem_ = {what, offset};
        return false;
    }

    void skip_digits() {
        while (is_digit(peek())) ++at_;
    }

    static bool fits_double(std::string_view number) {
        constexpr std::size_t surely_fits = 300;
        if (number.size() <= surely_fits && number.find_first_of("eE") == std::string_view::npos) {
            return true;
        }
        double value = 0;
        return std::from_chars(number.data(), number.data() + number.size(), value).ec ==
               std::errc{};
    }

    // Appends a node with the string's content and stands behind the closing quote.
    bool read_string() {
        const std::size_t start = ++at_;
        skip_plain();
        if (peek() == '"') {
            add(JsonType::string, text_.substr(start, at_ - start));
            ++at_;
            return true;
        }
        return read_escaped_string(start);
    }

    void skip_plain() {
        while (at_ + sizeof(std::uint64_t) <= text_.size()) {
            const std::uint64_t word = load_word(text_.data() + at_);
            if (has_byte(word, '"') || has_byte(word, '\\') || has_control(word)) break;
            at_ += sizeof(std::uint64_t);
        }
        while (at_ < text_.size() && !ends_plain_run(text_[at_])) ++at_;
    }

    bool read_escaped_string(std::size_t start) {
        if (!unescaped_) unescaped_ = std::make_unique_for_overwrite<char[]>(text_.size());
        char* const out = unescaped_.get() + unescaped_size_;
        const auto keep = [&](std::size_t from) {
            std::memcpy(unescaped_.get() + unescaped_size_, text_.data() + from, at_ - from);
            unescaped_size_ += at_ - from;
        };
        keep(start);
        while (peek() == '\\') {
            ++at_;
            if (!read_escape()) return false;
            const std::size_t from = at_;
            skip_plain();
            keep(from);
        }
        if (peek() != '"') return fail("a string holds a bare control character");
        ++at_;
        const auto size = static_cast<std::size_t>(unescaped_.get() + unescaped_size_ - out);
        add(JsonType::string, {out, size});
        return true;
    }

    void put(unsigned byte) { unescaped_[unescaped_size_++] = static_cast<char>(byte); }

    bool read_escape() {
        static constexpr std::string_view names = "\"\\/bfnrt";
        static constexpr std::string_view values = "\"\\/\b\f\n\r\t";
        const char name = peek();
        if (name == 'u') {
            ++at_;
            return read_unicode_escape();
        }
        const std::size_t index = names.find(name);
        if (index == std::string_view::npos || name == '\0') return fail("unknown escape");
        put(static_cast<unsigned char>(values[index]));
        ++at_;
        return true;
    }

    bool read_unicode_escape() {
        std::uint32_t point = 0;
        if (!read_four_digits(point)) return false;
        if (point >= 0xDC00 && point <= 0xDFFF) return fail("lone surrogate");
        if (point >= 0xD800 && point <= 0xDBFF) {
            std::uint32_t low = 0;
            if (text_.substr(at_, 2) != "\\u") return fail("lone surrogate");
            at_ += 2;
            if (!read_four_digits(low)) return false;
            if (low < 0xDC00 || low > 0xDFFF) return fail("lone surrogate");
            point = 0x10000 + ((point - 0xD800) << 10U) + (low - 0xDC00);
        }
        put_utf8(point);
        return true;
    }

    bool read_four_digits(std::uint32_t& point) {
        const std::string_view digits = text_.substr(at_, 4);
        const char* const end = digits.data() + digits.size();
        const auto read = std::from_chars(digits.data(), end, point, 16);
        if (digits.size() != 4 || read.ec != std::errc{} || read.ptr != end) {
            return fail("expected four hexadecimal digits");
        }
        at_ += 4;
        return true;
    }

    void put_utf8(std::uint32_t point) {
        if (point < 0x80) {
            put(point);
            return;
        }
        if (point < 0x800) {
            put(0xC0U | (point >> 6U));
        } else {
            if (point < 0x10000) {
                put(0xE0U | (point >> 12U));
            } else {
                put(0xF0U | (point >> 18U));
                put(0x80U | ((point >> 12U) & 0x3FU));
            }
            put(0x80U | ((point >> 6U) & 0x3FU));
        }
        put(0x80U | (point & 0x3FU));
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::vector<JsonNode> nodes_;
    std::unique_ptr<char[]> unescaped_;  // escapes only shrink a string: never larger than the text
    std::size_t unescaped_size_ = 0;
    JsonProblem problem_;
};

}  // namespace

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
    Reader reader(text);
    if (const auto problem = reader.read()) return *problem;
    return JsonDocument(reader.take_nodes(), reader.take_unescaped());
}

}  // namespace api
