#include "gateway/votes/prover/prover_text.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using gateway::votes::harmless_text;
using gateway::votes::without_open_end;

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
        {"c1=HzERNO/h+Y1angSbQtfHPD+dglq+MxnhbiHPpl+jaDc=!", "…!"},
        {"url-safe HzERNO_h-Y1angSbQtfH", "url-safe …"},
        {"point [31, 49, 17, 52, 239, 225, 249, 141, 90] end", "point […] end"},
        {"few [31, 49, 17] end", "few [31, 49, 17] end"},
        {"1f 31 11 34 ef e1 f9 8d 5a 9e bad", "…"},
        {"0x1f, 0x31, 0x11, 0x34, 0xef, 0xe1, 0xf9, 0x8d, 0x5a, 0x9e, so", "…, so"},
        {"b'\\x1f\\x31\\x11\\x34\\xef\\xe1'", "b'…'"},
        {"1f31:1134:efe1:f98d:5a9e.", "…."},
        {"see https://key@host/path for more", "see https://… for more"},
        {"halo2_proofs::plonk::Error at src/main.rs:41:9",
         "halo2_proofs::plonk::Error at "
         "src/main.rs:41:9"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.text);
        CHECK(harmless_text(row.text, 300) == row.shown);
    }
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
