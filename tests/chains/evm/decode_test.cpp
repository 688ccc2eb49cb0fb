#include "chains/jsonrpc/decode.hpp"

#include <doctest/doctest.h>

#include <string>

#include "chains/evm/golden.hpp"

using namespace chains;
using jsonrpc::Json;

TEST_CASE("quantities") {
    struct Row {
        Json value;
        std::optional<std::uint64_t> number;
    };
    const Row rows[] = {
        {"0x0", 0},
        {"0x1f49", 8009},
        {"0xABcd", 0xabcd},
        {"0x0001", 1},
        {"0x" + std::string(200, '0') + "7", 7},
        {"0xffffffffffffffff", 0xffffffffffffffff},
        {"0x10000000000000000", std::nullopt},
        {"0x", std::nullopt},
        {"", std::nullopt},
        {"0", std::nullopt},
        {"1f", std::nullopt},
        {"0X1f", std::nullopt},
        {"0x1g", std::nullopt},
        {"0x-1", std::nullopt},
        {"0x 1", std::nullopt},
        {" 0x1", std::nullopt},
        {"0x1 ", std::nullopt},
        {std::string{"0x1\0", 4}, std::nullopt},
        {"0x" + std::string(1'000'000, 'f'), std::nullopt},
        {7, std::nullopt},
        {-7, std::nullopt},
        {7.5, std::nullopt},
        {nullptr, std::nullopt},
        {true, std::nullopt},
        {Json::array({"0x1"}), std::nullopt},
        {Json::object(), std::nullopt},
    };
    for (const Row& row : rows) {
        CAPTURE(row.value.dump().substr(0, 50));
        CHECK(jsonrpc::quantity(row.value) == row.number);
    }
}

TEST_CASE("amounts of wei have up to 128 bits") {
    CHECK((jsonrpc::wei("0x" + std::string(32, 'f')) == chains::jsonrpc::wei_max));
    CHECK((jsonrpc::wei("0x00" + std::string(32, 'f')) == chains::jsonrpc::wei_max));
    CHECK_FALSE(jsonrpc::wei("0x1" + std::string(32, '0')));
    CHECK((jsonrpc::wei("0x10000000000000000") == chains::jsonrpc::Wei{1} << 64U));
}

TEST_CASE("quantities are written as they are read") {
    CHECK(jsonrpc::hex_quantity(0) == "0x0");
    CHECK(jsonrpc::hex_quantity(31) == "0x1f");
    CHECK(jsonrpc::hex_quantity(chains::jsonrpc::wei_max) == "0x" + std::string(32, 'f'));
    for (unsigned bit = 0; bit < 128; ++bit) {
        CAPTURE(bit);
        const chains::jsonrpc::Wei value = chains::jsonrpc::Wei{5} << bit;
        const bool same = jsonrpc::wei(jsonrpc::hex_quantity(value)) == value;
        CHECK(same);
    }
}

TEST_CASE("data") {
    CHECK(jsonrpc::bytes("0x") == domain::Bytes{});
    CHECK(jsonrpc::bytes("0xAbcD") == golden::hex("abcd"));
    CHECK(jsonrpc::hex(golden::hex("abcd")) == "0xabcd");
    CHECK(jsonrpc::hex({}) == "0x");
    for (const Json& wrong : {Json("0xabc"), Json("abcd"), Json("0xzz"), Json(""), Json("0"),
                              Json(), Json(1), Json::array()}) {
        CAPTURE(wrong.dump());
        CHECK_FALSE(jsonrpc::bytes(wrong));
        CHECK_FALSE(jsonrpc::bytes32(wrong));
        CHECK_FALSE(jsonrpc::address(wrong));
    }
    CHECK(jsonrpc::address("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"));
    CHECK_FALSE(jsonrpc::address("0x" + std::string(38, '1')));
    CHECK_FALSE(jsonrpc::address("0x" + std::string(42, '1')));
    CHECK(jsonrpc::bytes32("0x" + std::string(64, '1')));
    CHECK_FALSE(jsonrpc::bytes32("0x" + std::string(62, '1')));
    CHECK_FALSE(jsonrpc::bytes32("0x" + std::string(66, '1')));
}

TEST_CASE("members of anything") {
    const Json object{{"a", 1}};
    CHECK(jsonrpc::member(object, "a") == 1);
    CHECK(jsonrpc::member(object, "b").is_null());
    for (const Json& other : {Json(), Json(1), Json("a"), Json::array({"a"})}) {
        CHECK(jsonrpc::member(other, "a").is_null());
    }
}
