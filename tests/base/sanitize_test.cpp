#include "base/sanitize.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.hpp"

namespace {

using base::Sanitizing;

std::string shown(std::string_view text, std::size_t bytes_max) {
    return base::sanitize(text, {.bytes_max = bytes_max, .controls = Sanitizing::Controls::drop});
}

TEST_CASE("broken UTF-8 is replaced byte by byte") {
    struct Row {
        std::string_view label;
        std::string_view text;
        std::string_view expected;
    };
    constexpr std::string_view r = "\xef\xbf\xbd";
    const Row rows[] = {
        {"two, three and four bytes", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "é€😀"},
        {"a lone continuation", "a\x80", "a\xef\xbf\xbd"},
        {"cut after one byte", "\xc3", r},
        {"cut after two bytes", "\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"overlong", "\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"surrogate", "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"beyond Unicode", "\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"a byte that begins nothing", "\xff", r},
        {"C1 controls", "a\xc2\x80\xc2\x9f\xc2\xa0z", "a\xc2\xa0z"},
        {"DEL, tab and line end", "a\x7f\t\nb", "a  b"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        CHECK(shown(row.text, 100) == row.expected);
        CHECK(base::is_utf8(shown(row.text, 100)));
    }
    CHECK(shown("abc", 2) == "ab");
    CHECK(shown("a\xc3\xa9", 2) == "a");
    CHECK(shown("", 10).empty());
}

TEST_CASE("URLs, secrets and control characters do not leave") {
    const std::vector<std::string> secrets{"s3cret", "", "k"};
    struct Row {
        std::string_view label;
        std::string_view text;
        std::string_view expected;
    };
    const Row rows[] = {
        {"a secret each time", "s3cret, then s3cret", "…, then …"},
        {"a secret of one letter", "a k", "a …"},
        {"a URL", "no answer from https://user:s3cret@host/key?k=1", "no answer from https://…"},
        {"controls become spaces",
         std::string_view{"a\0b\nc\x7f"
                          "d",
                          7},
         "a b c d"},
        {"so do C1 and line separators",
         "a\xc2\x85"
         "b\xe2\x80\xa8"
         "c",
         "a  b   c"},
        {"what is no UTF-8", "a\xff", "a\xef\xbf\xbd"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        CHECK(base::sanitize(row.text, {.secrets = secrets}) == row.expected);
    }
}

TEST_CASE("dropping a control character joins no URL that is shown") {
    CHECK(shown("http:\x7f//host/secret", 100) == "http://…");
}

TEST_CASE("a long text is cut between two characters") {
    CHECK(base::sanitize("a\xc3\xa9", {.bytes_max = 2}) == "a");
    CHECK(base::sanitize(std::string(1'000'000, 'x'), {.bytes_max = 5}) == "xxxxx");
    CHECK(base::sanitize(std::string(100, '\x80'), {.bytes_max = 6}) == "\xef\xbf\xbd\xef\xbf\xbd");
}

}  // namespace

TEST_CASE("values of log lines are quoted and escaped") {
    struct Row {
        std::string_view value;
        std::string_view written;
    };
    const Row rows[]{
        {"plain-1.2/3", R"("plain-1.2/3")"},
        {"", R"("")"},
        {"two words", R"("two words")"},
        {R"(say "no")", R"("say \"no\"")"},
        {R"(c:\dir)", R"("c:\\dir")"},
        {R"(ends with \)", R"("ends with \\")"},
        {"a=b", R"("a=b")"},
        {"\xc3\xa4", "\"\xc3\xa4\""},
        {R"(" alert=true)", R"("\" alert=true")"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.value);
        CHECK(base::log_value(row.value) == row.written);
    }
}
