#include "api/field_rules.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace api {

namespace {

constexpr std::string_view wants_prefix = "Must start with 0x";
constexpr std::string_view wants_no_prefix = "Must not start with 0x";
constexpr std::string_view not_hex = "Invalid hex string";
constexpr std::string_view not_extra_data =
    "Must be 0x00, or a versioned format: 0x01 + 32-byte contextId (0x07-tagged first byte), or "
    "0x02 + 32-byte contextId (0x07-tagged) + 32-byte epochId (0x08-tagged)";

bool has_prefix(std::string_view text) {
    return text.starts_with("0x");
}

// Characters, not bytes: a text of clients may hold any Unicode.
std::size_t characters(std::string_view text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xC0) != 0x80; }));
}

template <typename Number>
bool read_digits(std::string_view digits, int radix, Number& out) {
    const auto number = base::number_in<Number>(digits, radix);
    if (number) out = *number;
    return number.has_value();
}

bool read_hex(std::string_view digits, domain::Bytes& out) {
    std::optional<domain::Bytes> bytes = domain::from_hex(digits);
    if (bytes) out = std::move(*bytes);
    return bytes.has_value();
}

bool all_of_base(std::string_view digits, int radix) {
    return std::ranges::all_of(digits, radix == 16 ? base::is_hex_digit : base::is_digit);
}

bool fits_u256(std::string_view significant, int radix) {
    constexpr std::string_view decimal_max =
        "115792089237316195423570985008687907853269984665640564039457584007913129639935";
    if (radix == 16) return significant.size() <= 64;
    if (significant.size() != decimal_max.size()) return significant.size() < decimal_max.size();
    return significant <= decimal_max;
}

}  // namespace

Issue read_address(std::string_view text, domain::Address& out) {
    if (!has_prefix(text)) return wants_prefix;
    if (text.size() == 42 && domain::from_hex(text.substr(2), out)) return {};
    if (characters(text) != 42) return "Must be 42 characters long";
    return "Contains invalid hex characters";
}

Issue read_chain_id(std::string_view text, std::uint64_t& out) {
    const bool read =
        has_prefix(text) ? read_digits(text.substr(2), 16, out) : read_digits(text, 10, out);
    if (!read) return "Must be decimal number or 0x hex string";
    return {};
}

Issue read_prefixed_hex(std::string_view text, domain::Bytes& out) {
    if (!has_prefix(text)) return wants_prefix;
    if (!read_hex(text.substr(2), out)) return not_hex;
    return {};
}

Issue read_bare_hex(std::string_view text, domain::Bytes& out) {
    if (has_prefix(text)) return wants_no_prefix;
    if (!read_hex(text, out)) return not_hex;
    return {};
}

Issue read_handle(std::string_view text, domain::Bytes32& out) {
    if (!has_prefix(text)) return wants_prefix;
    if (text.size() == 66 && domain::from_hex(text.substr(2), out)) return {};
    if (text.size() % 2 != 0 || !all_of_base(text.substr(2), 16)) return not_hex;
    return "Must be 64 characters long";
}

Issue read_u32(std::string_view text, std::uint32_t& out) {
    if (!read_digits(text, 10, out)) return "Value must be a valid u32 number";
    return {};
}

Issue read_u64(std::string_view text, std::uint64_t& out) {
    if (!read_digits(text, 10, out)) return "Value must be a valid u64 number";
    return {};
}

Issue read_proof_extra_data(std::string_view text, domain::Bytes& out) {
    if (text != "0x00") return not_extra_data;
    out.assign(1, 0);
    return {};
}

Issue read_decrypt_extra_data(std::string_view text, domain::Bytes& out) {
    constexpr std::uint8_t context_tag = 0x07;
    constexpr std::uint8_t epoch_tag = 0x08;
    if (!has_prefix(text) || !read_hex(text.substr(2), out)) return not_extra_data;
    const bool plain = out.size() == 1 && out[0] == 0;
    const bool context = out.size() == 33 && out[0] == 1 && out[1] == context_tag;
    const bool context_epoch =
        out.size() == 65 && out[0] == 2 && out[1] == context_tag && out[33] == epoch_tag;
    if (!plain && !context && !context_epoch) return not_extra_data;
    return {};
}

Issue read_start(std::string_view text, std::uint64_t now_seconds, std::uint64_t& out) {
    const int radix = has_prefix(text) ? 16 : 10;
    const std::string_view digits = radix == 16 ? text.substr(2) : text;
    const std::size_t zeros = std::min(digits.find_first_not_of('0'), digits.size());
    const std::string_view significant = digits.substr(zeros);
    if (digits.empty() || !all_of_base(digits, radix) || !fits_u256(significant, radix)) {
        return "Value must be a valid U256 number";
    }
    out = 0;
    const bool fits = significant.empty() || read_digits(significant, radix, out);
    if (!fits || out > now_seconds) return "Timestamp must not be in the future";
    return {};
}

Issue require_size(std::size_t size, std::size_t at_least) {
    if (size < at_least) return "Must not be empty";
    return {};
}

Issue require_130(std::string_view text) {
    if (characters(text) != 130) return "Must be 130 characters long";
    return {};
}

}  // namespace api
