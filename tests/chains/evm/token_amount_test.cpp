#include <doctest/doctest.h>

#include <string>
#include <variant>
#include <vector>

#include "chains/evm/token_amount.hpp"
#include "domain/bytes.hpp"

using namespace chains::evm;

namespace {

std::string digits_of(const std::variant<domain::Bytes32, std::string>& read) {
    const auto* amount = std::get_if<domain::Bytes32>(&read);
    if (amount == nullptr) return std::get<std::string>(read);
    const std::string hex = domain::to_hex(*amount);
    const auto first = hex.find_first_not_of('0');
    return first == std::string::npos ? "0" : hex.substr(first);
}

const std::string largest =
    "115792089237316195423570985008687907853269984665640564039457584007913129639935";

}  // namespace

TEST_CASE("amounts of tokens are read as people write them, and refused with the reason") {
    const std::string none = "it is no decimal number of tokens, such as 1000 or 12.5";
    const std::string too_large = "it is larger than any token amount";
    struct Row {
        std::string text;
        unsigned decimals;
        std::string expected;  // hexadecimal digits, or the reason
    };
    for (const Row& row : std::vector<Row>{
             {"0", 18, "0"},
             {"0.0", 18, "0"},
             {"000", 0, "0"},
             {"1", 0, "1"},
             {"1", 18, "de0b6b3a7640000"},
             {"1.5", 6, "16e360"},
             {"0.000000000000000001", 18, "1"},
             {"12.500000", 6, "bebc20"},
             {largest, 0, std::string(64, 'f')},
             {"115792089237316195423570985008687907853269984665640564039457.584007913129639935", 18,
              std::string(64, 'f')},
             {"115792089237316195423570985008687907853269984665640564039457584007913129639936", 0,
              too_large},
             {largest + "0", 0, too_large},
             {"1", 78, too_large},
             {"1.5", 0, "it has 1 digits behind the point; the token has 0"},
             {"0.0000001", 6, "it has 7 digits behind the point; the token has 6"},
             {"1.10", 1, "it has 2 digits behind the point; the token has 1"},
             {"", 18, none},
             {".", 18, none},
             {".5", 18, none},
             {"5.", 18, none},
             {"-1", 18, none},
             {"+1", 18, none},
             {"1e18", 18, none},
             {"0x10", 18, none},
             {"1,000", 18, none},
             {"1.2.3", 18, none},
             {" 1", 18, none},
             {"1 ", 18, none},
             {"ten", 18, none},
             {"unlimited", 18, none},
             {"\xd9\xa1", 18, none},
         }) {
        CAPTURE(row.text);
        CAPTURE(row.decimals);
        CHECK(digits_of(read_token_amount(row.text, row.decimals)) == row.expected);
    }
}

TEST_CASE("what was read is written the same way") {
    for (const auto& [text, decimals] : std::vector<std::pair<std::string, unsigned>>{
             {"0", 18},
             {"0", 0},
             {"1", 18},
             {"12.5", 6},
             {"0.000000000000000001", 18},
             {"1000000", 0},
             {"340282366920938463463374607431768211456", 3},
             {largest, 0}}) {
        CAPTURE(text);
        CHECK(token_text(std::get<domain::Bytes32>(read_token_amount(text, decimals)), decimals) ==
              text);
    }
    domain::Bytes32 one{};
    one.back() = 1;
    CHECK(token_text(one, token_decimals_max) == "0." + std::string(76, '0') + "1");
}
