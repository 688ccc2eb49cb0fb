#pragma once

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

// ASCII alone, whatever the locale.
namespace base {

[[nodiscard]] constexpr bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

[[nodiscard]] constexpr bool is_lower(char c) {
    return c >= 'a' && c <= 'z';
}

[[nodiscard]] constexpr bool is_upper(char c) {
    return c >= 'A' && c <= 'Z';
}

[[nodiscard]] constexpr bool is_letter(char c) {
    return is_lower(c) || is_upper(c);
}

[[nodiscard]] constexpr bool is_hex_digit(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

[[nodiscard]] constexpr bool is_control(char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == '\x7f';
}

[[nodiscard]] constexpr bool is_visible(char c) {
    return c > ' ' && c <= '~';
}

[[nodiscard]] constexpr char lower(char c) {
    return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
}

[[nodiscard]] inline std::string lower_case(std::string_view text) {
    std::string out(text);
    std::ranges::transform(out, out.begin(), lower);
    return out;
}

// Without what stands around it.
[[nodiscard]] inline std::string_view trimmed(std::string_view text,
                                              std::string_view spaces = " \t") {
    text.remove_prefix(std::min(text.find_first_not_of(spaces), text.size()));
    return text.substr(0, text.find_last_not_of(spaces) + 1);
}

// The number that the whole text says, an integer to that base; nothing for any other text and
// beyond the bounds of the type.
template <typename Number>
[[nodiscard]] std::optional<Number> number_in(std::string_view text, int base = 10) {
    Number number{};
    const char* const end = text.data() + text.size();
    std::from_chars_result read{};
    if constexpr (std::is_integral_v<Number>) {
        read = std::from_chars(text.data(), end, number, base);
    } else {
        read = std::from_chars(text.data(), end, number);
    }
    if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
    return number;
}

}  // namespace base
