#include "chains/jsonrpc/parse.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace chains::jsonrpc {
namespace {

constexpr std::size_t depth_max = 64;
constexpr std::size_t values_max = 500'000;

// Looks at brackets and strings alone; the parser sees to the rest.
class Inspection {
public:
    explicit Inspection(std::string_view text) : text_(text) {}

    [[nodiscard]] bool is_harmless() {
        for (at_ = 0; at_ < text_.size(); ++at_) {
            const char c = text_[at_];
            if (c == '"' && !pass_string()) return false;
            if (c == '[' || c == '{' || c == ',') {
                if (++values_ > values_max) return false;
            }
            if (c == '[' || c == '{') {
                if (++depth_ > depth_max) return false;
                if (depth_ == 1) replies_at_ = c == '[' ? 2 : 1;
                if (depth_ == replies_at_) names_.clear();
            }
            if ((c == ']' || c == '}') && depth_ > 0) --depth_;
        }
        return true;
    }

private:
    // False when it names a member that the reply has already.
    bool pass_string() {
        const std::size_t begin = at_ + 1;
        for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
            if (text_[at_] == '\\') ++at_;
        }
        if (depth_ != replies_at_) return true;
        const std::size_t after =
            text_.find_first_not_of(" \t\r\n", std::min(at_ + 1, text_.size()));
        if (after == std::string_view::npos || text_[after] != ':') return true;
        const std::string_view name = text_.substr(begin, at_ - begin);
        // No node writes these names with escapes.
        if (name.find('\\') != std::string_view::npos) return false;
        if (std::ranges::find(names_, name) != names_.end()) return false;
        names_.push_back(name);
        return names_.size() <= names_max;
    }

    static constexpr std::size_t names_max = 32;

    const std::string_view text_;
    std::size_t at_ = 0;
    std::size_t values_ = 0;
    std::size_t depth_ = 0;
    std::size_t replies_at_ = 0;
    std::vector<std::string_view> names_;  // of the reply at hand
};

// The bytes of the UTF-8 character at `at` (Unicode, table 3-7); 0: it is none.
std::size_t character_bytes(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t offset) {
        return at + offset < text.size() ? static_cast<std::uint8_t>(text[at + offset])
                                         : std::uint8_t{0};
    };
    const auto within = [](std::uint8_t value, std::uint8_t low, std::uint8_t high) {
        return value >= low && value <= high;
    };
    const auto follows = [&](std::size_t offset) { return within(byte(offset), 0x80, 0xbf); };
    const std::uint8_t first = byte(0);
    if (first < 0x80) return 1;
    if (within(first, 0xc2, 0xdf)) return follows(1) ? 2 : 0;
    if (within(first, 0xe0, 0xef)) {
        const std::uint8_t low = first == 0xe0 ? 0xa0 : 0x80;
        const std::uint8_t high = first == 0xed ? 0x9f : 0xbf;
        return within(byte(1), low, high) && follows(2) ? 3 : 0;
    }
    if (within(first, 0xf0, 0xf4)) {
        const std::uint8_t low = first == 0xf0 ? 0x90 : 0x80;
        const std::uint8_t high = first == 0xf4 ? 0x8f : 0xbf;
        return within(byte(1), low, high) && follows(2) && follows(3) ? 4 : 0;
    }
    return 0;
}

void replace_foreign_bytes(std::string& text) {
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t bytes = character_bytes(text, at);
        if (bytes == 0) text[at] = '?';
        at += std::max<std::size_t>(bytes, 1);
    }
}

}  // namespace

std::optional<Json> parse(std::string text) {
    if (!Inspection(text).is_harmless()) return std::nullopt;
    replace_foreign_bytes(text);
    Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded()) return std::nullopt;
    return json;
}

}  // namespace chains::jsonrpc
