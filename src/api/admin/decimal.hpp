#pragma once

#include <string>
#include <string_view>

namespace api::admin {

// A number as JSON writes it (RFC 8259, 6), taken apart without rounding: digits times ten to the
// power of the exponent.
struct Decimal {
    std::string digits;  // no zeros at either end; empty: the number is 0
    long exponent = 0;
    bool negative = false;
    bool is_integer = false;  // written without fraction, exponent and sign
};

// `number` as a JsonValue of type number gives it.
[[nodiscard]] Decimal decimal_of(std::string_view number);

}  // namespace api::admin
