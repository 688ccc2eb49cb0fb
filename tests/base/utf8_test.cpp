#include "base/utf8.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string_view>

namespace {

TEST_CASE("the length of a well-formed character, and 0 for everything else") {
    struct Row {
        std::string_view label;
        std::string_view text;
        std::size_t expected;
    };
    const Row rows[] = {
        {"nothing", "", 0},
        {"one byte", "ab", 1},
        {"two, three and four", "\xc3\xa9", 2},
        {"three", "\xe2\x82\xac!", 3},
        {"four", "\xf0\x9f\x98\x80!", 4},
        {"cut", "\xe2\x82", 0},
        {"a continuation alone", "\x80", 0},
        {"overlong", "\xc0\xaf", 0},
        {"overlong, three", "\xe0\x9f\xbf", 0},
        {"overlong, four", "\xf0\x8f\xbf\xbf", 0},
        {"surrogate", "\xed\xa0\x80", 0},
        {"beyond Unicode", "\xf4\x90\x80\x80", 0},
        {"beyond all", "\xf5\x80\x80\x80", 0},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        CHECK(base::utf8_length(row.text) == row.expected);
    }
    CHECK(base::is_utf8(""));
    CHECK(base::is_utf8("a\xc3\xa9"));
    CHECK_FALSE(base::is_utf8("a\xc3"));
}

TEST_CASE("a cut never splits a character") {
    constexpr std::string_view text = "a\xc3\xa9\xe2\x82\xac";
    CHECK(base::cut_utf8(text, 10) == text);
    CHECK(base::cut_utf8(text, 6) == text);
    CHECK(base::cut_utf8(text, 5) == "a\xc3\xa9");
    CHECK(base::cut_utf8(text, 2) == "a");
    CHECK(base::cut_utf8(text, 0).empty());
}

}  // namespace
