#include "base/text.hpp"

#include <doctest/doctest.h>

#include <cstdint>

using base::number_in;

TEST_CASE("a number is the whole text or none") {
    CHECK(number_in<std::uint16_t>("65535") == 65'535);
    CHECK(number_in<unsigned char>("fF", 16) == 255);
    CHECK(number_in<int>("-7") == -7);
    CHECK(number_in<double>("0.5") == 0.5);
    for (const char* const text : {"", " 1", "1 ", "+1", "-1", "0x1", "65536", "1.0"}) {
        CAPTURE(text);
        CHECK_FALSE(number_in<std::uint16_t>(text));
    }
}

TEST_CASE("only what stands around a text is trimmed") {
    CHECK(base::trimmed(" \ta b\t ") == "a b");
    CHECK(base::trimmed("\ta ", " ") == "\ta");
    CHECK(base::trimmed(" \t ").empty());
    CHECK(base::trimmed("").empty());
}

TEST_CASE("letters are those of ASCII") {
    CHECK(base::lower_case("AZ[\xc3\x84") == "az[\xc3\x84");
    CHECK(base::is_letter('z'));
    CHECK_FALSE(base::is_letter('\xe4'));
    CHECK(base::is_hex_digit('F'));
    CHECK_FALSE(base::is_hex_digit('g'));
    CHECK(base::is_control('\x7f'));
    CHECK_FALSE(base::is_control('\x80'));
    CHECK(base::is_visible('~'));
    CHECK_FALSE(base::is_visible(' '));
    CHECK_FALSE(base::is_visible('\xe4'));
}
