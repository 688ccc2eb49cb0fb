#include "api/admin/decimal.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace api::admin {

namespace {

// Of `e5`, `E+5`, `e-5`. Beyond all bounds only where the digits are zeros, since the reader of
// JSON refuses what no double can hold.
long exponent_of(std::string_view part) {
    if (part.empty()) return 0;
    part.remove_prefix(part.size() > 1 && part[1] == '+' ? 2 : 1);
    return base::number_in<long>(part).value_or(0);
}

}  // namespace

Decimal decimal_of(std::string_view number) {
    Decimal out;
    out.is_integer = number.find_first_of("-.eE") == std::string_view::npos;
    out.negative = number.starts_with('-');
    if (out.negative) number.remove_prefix(1);

    const std::size_t end = std::min(number.find_first_of("eE"), number.size());
    const std::string_view mantissa = number.substr(0, end);
    const std::size_t dot = std::min(mantissa.find('.'), mantissa.size());
    out.digits = mantissa.substr(0, dot);
    long decimals = 0;
    if (dot < mantissa.size()) {
        out.digits += mantissa.substr(dot + 1);
        decimals = static_cast<long>(mantissa.size() - dot - 1);
    }
    out.digits.erase(0, std::min(out.digits.find_first_not_of('0'), out.digits.size()));
    const std::size_t kept = out.digits.find_last_not_of('0') + 1;
    if (kept > 0) {
        const auto zeros = static_cast<long>(out.digits.size() - kept);
        out.exponent = exponent_of(number.substr(end)) - decimals + zeros;
    }
    out.digits.resize(kept);
    return out;
}

}  // namespace api::admin
