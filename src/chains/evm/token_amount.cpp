#include "chains/evm/token_amount.hpp"

#include <algorithm>
#include <cstdint>

#include "base/text.hpp"

namespace chains::evm {

namespace {

// Nothing is left over of the division by ten but what is returned.
unsigned take_last_digit(domain::Bytes32& number) {
    unsigned rest = 0;
    for (std::uint8_t& byte : number) {
        const unsigned value = rest * 256 + byte;
        byte = static_cast<std::uint8_t>(value / 10);
        rest = value % 10;
    }
    return rest;
}

// False: it has no room.
bool append_digit(domain::Bytes32& number, unsigned digit) {
    unsigned carry = digit;
    for (auto byte = number.rbegin(); byte != number.rend(); ++byte) {
        const unsigned value = *byte * 10U + carry;
        *byte = static_cast<std::uint8_t>(value % 256);
        carry = value / 256;
    }
    return carry == 0;
}

bool is_digits(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, base::is_digit);
}

}  // namespace

std::string token_text(const domain::Bytes32& amount, unsigned decimals) {
    domain::Bytes32 left = amount;
    std::string digits;
    while (digits.size() <= decimals || left != domain::Bytes32{}) {
        digits += static_cast<char>('0' + take_last_digit(left));
    }
    std::ranges::reverse(digits);
    std::string fraction = digits.substr(digits.size() - decimals);
    fraction.erase(fraction.find_last_not_of('0') + 1);
    const std::string whole = digits.substr(0, digits.size() - decimals);
    return fraction.empty() ? whole : whole + "." + fraction;
}

std::variant<domain::Bytes32, std::string> read_token_amount(std::string_view text,
                                                             unsigned decimals) {
    const std::size_t point = text.find('.');
    const std::string_view whole = text.substr(0, point);
    const std::string_view fraction =
        point == std::string_view::npos ? std::string_view{} : text.substr(point + 1);
    if (!is_digits(whole) || (point != std::string_view::npos && !is_digits(fraction))) {
        return "it is no decimal number of tokens, such as 1000 or 12.5";
    }
    if (fraction.size() > decimals) {
        return "it has " + std::to_string(fraction.size()) +
               " digits behind the point; the token has " + std::to_string(decimals);
    }
    std::string digits = std::string(whole) + std::string(fraction);
    digits.append(decimals - fraction.size(), '0');
    domain::Bytes32 amount{};
    for (const char digit : digits) {
        if (!append_digit(amount, static_cast<unsigned>(digit - '0'))) {
            return "it is larger than any token amount";
        }
    }
    return amount;
}

}  // namespace chains::evm
