#include "base/base64.hpp"

#include <array>

namespace base {
namespace {

constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t no_digit = 0xFF;

constexpr std::array<std::uint8_t, 256> make_digit_values() {
    std::array<std::uint8_t, 256> values{};
    values.fill(no_digit);
    for (std::size_t value = 0; value < alphabet.size(); ++value) {
        values[static_cast<unsigned char>(alphabet[value])] = static_cast<std::uint8_t>(value);
    }
    return values;
}

constexpr std::array<std::uint8_t, 256> digit_values = make_digit_values();

}  // namespace

std::string to_base64(std::span<const std::uint8_t> bytes) {
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    std::uint32_t pending = 0;
    unsigned pending_bits = 0;
    for (const std::uint8_t byte : bytes) {
        pending = (pending << 8U) | byte;
        pending_bits += 8;
        while (pending_bits >= 6) {
            pending_bits -= 6;
            text += alphabet[(pending >> pending_bits) & 0x3FU];
        }
        pending &= (1U << pending_bits) - 1U;
    }
    if (pending_bits > 0) text += alphabet[(pending << (6 - pending_bits)) & 0x3FU];
    while (text.size() % 4 != 0) text += '=';
    return text;
}

std::string to_base64(std::string_view bytes) {
    return to_base64(std::span{reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

std::optional<std::size_t> read_base64(std::string_view text, std::span<std::uint8_t> out) {
    if (text.size() % 4 != 0) return {};
    std::string_view digits = text;
    while (digits.ends_with('=') && text.size() - digits.size() < 2) digits.remove_suffix(1);

    std::size_t size = 0;
    std::uint32_t pending = 0;
    unsigned pending_bits = 0;
    for (const char digit : digits) {
        const std::uint8_t value = digit_values[static_cast<unsigned char>(digit)];
        if (value == no_digit) return {};
        pending = (pending << 6U) | value;
        pending_bits += 6;
        if (pending_bits < 8) continue;
        pending_bits -= 8;
        if (size < out.size()) out[size] = static_cast<std::uint8_t>(pending >> pending_bits);
        pending &= (1U << pending_bits) - 1U;
        ++size;
    }
    if (pending != 0) return {};
    return size;
}

bool from_base64(std::string_view text, std::span<std::uint8_t> out) {
    if (read_base64(text, {}) != out.size()) return false;
    return read_base64(text, out) == out.size();
}

}  // namespace base
