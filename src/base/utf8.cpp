#include "base/utf8.hpp"

#include <cstdint>

namespace base {
namespace {

std::uint8_t byte_at(std::string_view text, std::size_t at) {
    return at < text.size() ? static_cast<std::uint8_t>(text[at]) : std::uint8_t{0};
}

bool in(std::uint8_t byte, unsigned low, unsigned high) {
    return byte >= low && byte <= high;
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
    if (text.empty()) return 0;
    const std::uint8_t first = byte_at(text, 0);
    const std::uint8_t second = byte_at(text, 1);
    if (first < 0x80) return 1;
    if (first < 0xe0) return in(first, 0xc2, 0xdf) && in(second, 0x80, 0xbf) ? 2 : 0;

    const bool third = in(byte_at(text, 2), 0x80, 0xbf);
    if (first < 0xf0) {
        const unsigned low = first == 0xe0 ? 0xa0 : 0x80;
        const unsigned high = first == 0xed ? 0x9f : 0xbf;  // no surrogates
        return in(second, low, high) && third ? 3 : 0;
    }
    const unsigned low = first == 0xf0 ? 0x90 : 0x80;
    const unsigned high = first == 0xf4 ? 0x8f : 0xbf;
    const bool fourth = in(byte_at(text, 3), 0x80, 0xbf);
    return first <= 0xf4 && in(second, low, high) && third && fourth ? 4 : 0;
}

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

std::string_view cut_utf8(std::string_view text, std::size_t bytes_max) {
    if (text.size() <= bytes_max) return text;
    std::size_t end = bytes_max;
    while (end > 0 && in(byte_at(text, end), 0x80, 0xbf)) --end;
    return text.substr(0, end);
}

}  // namespace base
