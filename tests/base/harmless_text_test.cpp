#include "base/sanitize.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using base::harmless_text;
using base::without_open_end;

TEST_CASE("what a prover said is shown without what it was given") {
    struct Row {
        std::string text;
        std::string shown;
    };
    const std::vector<Row> rows{
        {"", ""},
        {"out of memory", "out of memory"},
        {"  two\n\nlines\t", "two lines"},
        {"say \"no\"\x1b[0m\x7f", "say 'no' [0m"},
        {"caf\xc3\xa9", "caf??"},
        {"19 digits 0123456789abcdef012", "19 digits 0123456789abcdef012"},
        {"20 digits 0123456789abcdef0123", "20 digits …"},
        {"c1=HzERNO/h+Y1angSbQtfHPD+dglq+MxnhbiHPpl+jaDc=!", "…"},
        {"url-safe HzERNO_h-Y1angSbQtfH", "url-safe …"},
        {"point [31, 49, 17, 52, 239, 225, 249, 141, 90] end", "point […] end"},
        {"few [31, 49, 17] end", "few [31, 49, 17] end"},
        {"1f 31 11 34 ef e1 f9 8d 5a 9e bad", "…"},
        {"0x1f, 0x31, 0x11, 0x34, 0xef, 0xe1, 0xf9, 0x8d, 0x5a, 0x9e, so", "…, so"},
        {"b'\\x1f\\x31\\x11\\x34\\xef\\xe1'", "…"},
        {"1f31:1134:efe1:f98d:5a9e.", "…"},
        {"see https://key@host/path for more", "see https://… for more"},
        {"base85 9jqo^BlbD-BleB1DJ+*+F(f,q/0JhKF<GL>", "base85 …"},
        {"escaped %d5%63%5a%23%99%11%45 end", "escaped … end"},
        {"entities &#xd5;&#x63;&#x5a;&#x23; end", "entities … end"},
        {"bytes b'\\xd5cZ#\\x99aq\\x11Zq\\x45' end", "bytes … end"},
        {"213 - 99 - 90 - 35 - 153 - 17 - 69 - 213 - 99 - 90 - 35 - 153 - 17 - 69 - 1", "…"},
        {"d563 x 5a23 and 9911 & 45d5 ~ 635a x 2399 x 1145 x d563 x 5a23 x 9911 x 45d5", "…"},
        {"byte0 is d563\nbyte2 is 5a23\nbyte4 is 9911\nbyte6 is 45d5\nb8 is 635a\nb9 is 2399\n"
         "b10 is 1145\nb11 is 1145\nb12 is 1145\nb13 is 1145 b14 is d563",
         "byte0 is …"},
        {"a bad face decides: be a dead cafe", "a bad face decides: be a dead cafe"},
        {"halo2_proofs::plonk::Error at src/main.rs:41:9",
         "halo2_proofs::plonk::Error at "
         "src/main.rs:41:9"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.text);
        CHECK(harmless_text(row.text, 300) == row.shown);
    }
}

TEST_CASE("secrets are hidden however short they are") {
    const std::vector<std::string> secrets{"t0k\xc3\xa9n", "url"};
    CHECK(harmless_text("no t0k\xc3\xa9n at url, ur l", 300, secrets) == "no … at …, ur l");
}

TEST_CASE("long text is cut, but a secret not to a harmless length") {
    CHECK(harmless_text(std::string(500, ' ') + std::string(900, '!'), 300).size() == 300);
    const std::string secret(64, 'f');
    CHECK(harmless_text("1234567890 " + secret, 15) == "…");
    CHECK(harmless_text("!!!!!! " + secret + " more", 9) == "!!!!!! …");
}

TEST_CASE("text that was cut off loses what may be the beginning of a secret") {
    CHECK(without_open_end("bad point: 1f31") == "");
    CHECK(without_open_end("(oh!) 1f 31 1") == "(oh!");
    CHECK(without_open_end("oh?") == "oh?");
}
