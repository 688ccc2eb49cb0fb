#include "chains/evm/printable.hpp"

#include <algorithm>
#include <cstdint>

#include "domain/failure.hpp"

namespace chains::evm {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";

std::uint8_t byte_at(std::string_view text, std::size_t at) {
    return at < text.size() ? static_cast<std::uint8_t>(text[at]) : std::uint8_t{0};
}

bool in(std::uint8_t byte, unsigned low, unsigned high) {
    return byte >= low && byte <= high;
}

// Bytes of the character at `at`; 0 when it is not well-formed (Unicode 15, table 3-7).
std::size_t utf8_length(std::string_view text, std::size_t at) {
    const std::uint8_t first = byte_at(text, at);
    const std::uint8_t second = byte_at(text, at + 1);
    if (first < 0x80) return 1;
    if (first < 0xe0) return in(first, 0xc2, 0xdf) && in(second, 0x80, 0xbf) ? 2 : 0;

    const bool third = in(byte_at(text, at + 2), 0x80, 0xbf);
    if (first < 0xf0) {
        const unsigned low = first == 0xe0 ? 0xa0 : 0x80;
        const unsigned high = first == 0xed ? 0x9f : 0xbf;  // no surrogates
        return in(second, low, high) && third ? 3 : 0;
    }
    const unsigned low = first == 0xf0 ? 0x90 : 0x80;
    const unsigned high = first == 0xf4 ? 0x8f : 0xbf;
    const bool fourth = in(byte_at(text, at + 3), 0x80, 0xbf);
    return first <= 0xf4 && in(second, low, high) && third && fourth ? 4 : 0;
}

// C0, DEL and C1.
bool is_control(std::string_view character) {
    const auto first = static_cast<std::uint8_t>(character[0]);
    return first < 0x20 || first == 0x7f ||
           (first == 0xc2 && static_cast<std::uint8_t>(character[1]) < 0xa0);
}

std::string without_controls(std::string_view text) {
    std::string clean;
    clean.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = utf8_length(text, at);
        const std::string_view character = text.substr(at, std::max<std::size_t>(length, 1));
        at += character.size();
        if (length == 0) {
            clean += replacement;
        } else if (character == "\n" || character == "\r" || character == "\t") {
            clean += ' ';
        } else if (!is_control(character)) {
            clean += character;
        }
    }
    return clean;
}

std::string_view cut(std::string_view utf8, std::size_t bytes_max) {
    if (utf8.size() <= bytes_max) return utf8;
    std::size_t end = bytes_max;
    while (end > 0 && in(byte_at(utf8, end), 0x80, 0xbf)) --end;
    return utf8.substr(0, end);
}

}  // namespace

bool is_utf8(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = utf8_length(text, at);
        if (length == 0) return false;
        at += length;
    }
    return true;
}

std::string printable(std::string_view text, std::size_t bytes_max) {
    // Enough to fill the answer, so that a text of megabytes is not worked through.
    const std::string_view looked_at = text.substr(0, 8 * bytes_max);
    return std::string{cut(domain::redact_urls(without_controls(looked_at)), bytes_max)};
}

}  // namespace chains::evm
