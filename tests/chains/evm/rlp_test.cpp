#include "chains/evm/rlp.hpp"

#include <doctest/doctest.h>

#include <string_view>

#include "chains/evm/golden.hpp"

using namespace chains::evm;
using golden::hex;

namespace {

domain::Bytes copy(domain::ByteView view) {
    return {view.begin(), view.end()};
}

}  // namespace

TEST_CASE("texts, numbers and lists are encoded as others encode them") {
    CHECK(rlp::list({}) == hex("c0"));
    CHECK(rlp::list({rlp::text({}), rlp::text(hex("00")), rlp::text(hex("7f")),
                     rlp::text(hex("80")), rlp::list({rlp::text(hex("0400"))}), rlp::list({})}) ==
          hex("ca80007f8180c3820400c0"));

    const domain::Bytes longest_short(55, 0xaa);
    const domain::Bytes shortest_long(56, 0xbb);
    const domain::Bytes both = rlp::list({rlp::text(longest_short), rlp::text(shortest_long)});
    CHECK(both.size() == 2 + 56 + 58);
    CHECK(copy(domain::ByteView{both}.first(4)) == hex("f872b7aa"));
    CHECK(copy(domain::ByteView{both}.subspan(58, 3)) == hex("b838bb"));
    CHECK(copy(domain::ByteView{rlp::text(domain::Bytes(300, 0xcc))}.first(4)) == hex("b9012ccc"));
    CHECK(rlp::text(domain::Bytes(70'000, 0)).size() == 70'004);
}

TEST_CASE("numbers have no leading zeros and come back") {
    CHECK(rlp::number(0) == hex("80"));
    CHECK(rlp::number(127) == hex("7f"));
    CHECK(rlp::number(128) == hex("8180"));
    CHECK(rlp::number(1024) == hex("820400"));
    CHECK(rlp::number(chains::jsonrpc::wei_max) == hex("90 ffffffffffffffffffffffffffffffff"));
    for (unsigned bit = 0; bit < 128; ++bit) {
        CAPTURE(bit);
        const chains::jsonrpc::Wei value = chains::jsonrpc::Wei{1} << bit;
        const bool came_back = rlp::number_in(rlp::number(value)) == value;
        CHECK(came_back);
    }
}

TEST_CASE("what was put into a list comes out") {
    const domain::Bytes large(1'000, 0x42);
    const domain::Bytes encoded =
        rlp::list({rlp::number(7), rlp::text(large), rlp::list({rlp::number(1)})});
    const auto items = rlp::items(encoded);
    REQUIRE(items);
    REQUIRE(items->size() == 3);
    CHECK((rlp::number_in((*items)[0]) == chains::jsonrpc::Wei{7}));
    REQUIRE(rlp::content((*items)[1]));
    CHECK(copy(*rlp::content((*items)[1])) == large);
    CHECK_FALSE(rlp::content((*items)[2]));
    CHECK(rlp::items((*items)[2])->size() == 1);
}

TEST_CASE("only the canonical form is read") {
    struct Row {
        std::string_view label;
        const char* bytes;
    };
    const Row texts[] = {
        {"nothing", ""},
        {"a small byte with a prefix", "8100"},
        {"the largest small byte with a prefix", "817f"},
        {"a long form for a short text", "b801ff"},
        {"a length with a leading zero",
         "b90038"
         "00"},
        {"cut", "83aabb"},
        {"more than one", "8080"},
        {"a length of 2^64 - 1", "bfffffffffffffffff"},
        {"a length that is cut", "bb01"},
        {"a list", "c0"},
    };
    for (const Row& row : texts) {
        CAPTURE(row.label);
        CHECK_FALSE(rlp::content(hex(row.bytes)));
    }
    const Row lists[] = {
        {"nothing", ""},
        {"a text", "80"},
        {"a long form for a short list", "f80180"},
        {"an item that reaches beyond the list", "c183"},
        {"an item in long form", "c3b801ff"},
        {"something behind", "c000"},
        {"cut",
         "c2"
         "80"},
        {"a length of 2^64 - 1", "ffffffffffffffffff"},
    };
    for (const Row& row : lists) {
        CAPTURE(row.label);
        CHECK_FALSE(rlp::items(hex(row.bytes)));
    }
    const Row numbers[] = {
        {"a zero byte", "00"},
        {"a leading zero", "820001"},
        {"17 bytes", "91 0100000000000000000000000000000000"},
    };
    for (const Row& row : numbers) {
        CAPTURE(row.label);
        CHECK_FALSE(rlp::number_in(hex(row.bytes)));
    }
}
