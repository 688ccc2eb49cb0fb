#include "chains/jsonrpc/decode.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

namespace chains::jsonrpc {
namespace {

constexpr std::string_view digits = "0123456789abcdef";

std::optional<unsigned> digit_value(char c) {
    if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
    if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
    return std::nullopt;
}

// What stands behind `0x` in a string.
std::optional<std::string_view> digits_of(const Json& value) {
    if (!value.is_string()) return std::nullopt;
    const std::string_view text = value.get_ref<const std::string&>();
    if (!text.starts_with("0x")) return std::nullopt;
    return text.substr(2);
}

template <typename Array>
std::optional<Array> array_in(const Json& value) {
    const auto text = digits_of(value);
    Array out{};
    if (!text || !domain::from_hex(*text, out)) return std::nullopt;
    return out;
}

}  // namespace

std::optional<std::uint64_t> quantity(const Json& value) {
    const auto number = wei(value);
    if (!number || *number > std::numeric_limits<std::uint64_t>::max()) return std::nullopt;
    return static_cast<std::uint64_t>(*number);
}

std::optional<Wei> wei(const Json& value) {
    const auto text = digits_of(value);
    if (!text || text->empty()) return std::nullopt;
    Wei number = 0;
    for (const char c : *text) {
        const auto digit = digit_value(c);
        if (!digit || number > wei_max >> 4U) return std::nullopt;
        number = number << 4U | *digit;
    }
    return number;
}

std::optional<domain::Bytes> bytes(const Json& value) {
    const auto text = digits_of(value);
    return text ? domain::from_hex(*text) : std::nullopt;
}

std::optional<domain::Bytes32> bytes32(const Json& value) {
    return array_in<domain::Bytes32>(value);
}

std::optional<domain::Address> address(const Json& value) {
    return array_in<domain::Address>(value);
}

std::string hex(domain::ByteView bytes) {
    return "0x" + domain::to_hex(bytes);
}

std::string hex_quantity(Wei value) {
    std::string reversed;
    do {
        reversed += digits[static_cast<std::size_t>(value & 0xfU)];
        value >>= 4U;
    } while (value != 0);
    return "0x" + std::string{reversed.rbegin(), reversed.rend()};
}

const Json& member(const Json& object, const char* name) {
    static const Json none;
    const auto found = object.find(name);
    return found == object.end() ? none : *found;
}

}  // namespace chains::jsonrpc
