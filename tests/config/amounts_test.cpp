#include "config/amounts.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "harness.hpp"

using chains::jsonrpc::Wei;
using config::ether_decimals;
using config::gwei_decimals;
using config_test::Outcome;

namespace {

constexpr Wei ether = 1'000'000'000'000'000'000U;

std::string low_balance(const std::string& value) {
    return "gateway.tx_engine.signer = { type = \"private_key\", private_key_file = \"k\", "
           "low_balance_ether = " +
           value + " }";
}

}  // namespace

TEST_CASE("amounts are read to the last wei") {
    struct Row {
        std::string_view text;
        std::uint32_t decimals;
        Wei expected;
    };
    const std::vector<Row> rows{
        {"0", ether_decimals, 0},
        {"1", ether_decimals, ether},
        {"0.1", ether_decimals, ether / 10},
        {"0.000000000000000001", ether_decimals, 1},
        {"12.345678901234567890", ether_decimals, 12'345'678'901'234'567'890U},
        {"1000000000", ether_decimals, ether * 1'000'000'000U},
        {"007.50", ether_decimals, ether * 15 / 2},
        {"0.1000000000000000000000", ether_decimals, ether / 10},
        {"0.000000001", gwei_decimals, 1},
        {"1.5", gwei_decimals, 1'500'000'000U},
    };
    for (const Row& row : rows) {
        CAPTURE(row.text);
        const auto amount = config::parse_amount(row.text, row.decimals);
        REQUIRE(amount);
        CHECK((*amount == row.expected));
        const auto again =
            config::parse_amount(config::format_amount(*amount, row.decimals), row.decimals);
        REQUIRE(again);
        CHECK((*again == *amount));
    }
    CHECK(config::format_amount(0, ether_decimals) == "0");
    CHECK(config::format_amount(ether / 10, ether_decimals) == "0.1");
    CHECK(config::format_amount(ether * 120, ether_decimals) == "120");
    CHECK(config::format_amount(1, gwei_decimals) == "0.000000001");
}

TEST_CASE("what is no amount is nothing") {
    for (const std::string_view text :
         {"", ".", "1.", ".5", "-1", "+1", "1e3", "1,5", "0x10", " 1", "1 ", "1.2.3", "nan",
          "0.0000000000000000001", "1000000000.000000000000000001", "1000000001",
          "99999999999999999999999999999999999999999", "1_000"}) {
        CAPTURE(text);
        CHECK_FALSE(config::parse_amount(text, ether_decimals));
    }
    CHECK_FALSE(config::parse_amount("0.0000000001", gwei_decimals));
    CHECK_FALSE(config::parse_amount(std::string(1'000, '0'), gwei_decimals));
}

TEST_CASE("an amount may be a number or its text") {
    struct Row {
        std::string value;
        Wei expected;
    };
    const std::vector<Row> rows{
        {"2", ether * 2},
        {"0.3", ether * 3 / 10},
        {"0.07", ether * 7 / 100},
        {"1e-9", 1'000'000'000U},
        {"123456789.012345", 123'456'789'012'345U * Wei{1'000'000'000'000U}},
        {"\"0.123456789012345678\"", 123'456'789'012'345'678U},
    };
    for (const Row& row : rows) {
        CAPTURE(row.value);
        const Outcome outcome{low_balance(row.value)};
        CAPTURE(outcome.text());
        REQUIRE(outcome.accepted());
        CHECK((outcome.settings().evm.signer.low_balance == row.expected));
    }
    const Outcome by_variable{"gateway.tx_engine.signer.type = \"private_key\"",
                              {{"POSTHOUSE_GATEWAY__TX_ENGINE__SIGNER__LOW_BALANCE_ETHER", "0.25"},
                               {"POSTHOUSE_GATEWAY__TX_ENGINE__SIGNER__PRIVATE_KEY_FILE", "k"}}};
    CAPTURE(by_variable.text());
    REQUIRE(by_variable.accepted());
    CHECK((by_variable.settings().evm.signer.low_balance == ether / 4));
}

TEST_CASE("a number that may have lost digits is refused") {
    const std::string allowed =
        "; allowed: 0 to 1000000000, at most 18 decimals; as text when it has more than 15 digits";
    const std::string key = "FILE:1: gateway.tx_engine.signer.low_balance_ether: ";
    struct Row {
        std::string value;
        std::string expected;
    };
    const std::vector<Row> rows{
        {"0.123456789012345678", "the number 0.123457 is not exact; write the amount as text"},
        {"inf", "the number inf is not exact; write the amount as text"},
        {"1e300", "the number 1e+300 is not exact; write the amount as text"},
        {"-1", "\"-1\" is no such amount"},
        {"-0.5", "\"-0.5\" is no such amount"},
        {"1000000001", "\"1000000001\" is no such amount"},
        {"1e-19", "\"0.0000000000000000001\" is no such amount"},
        {"\"1 ether\"", "\"1 ether\" is no such amount"},
        {"true", "must be a number or the text of one, is true"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.value);
        const Outcome outcome{low_balance(row.value)};
        CHECK(outcome.errors() == std::vector<std::string>{key + row.expected + allowed});
    }
}
