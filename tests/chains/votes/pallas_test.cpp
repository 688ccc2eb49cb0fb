#include "chains/votes/tree/pallas.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>

#include "chains/votes/fields.hpp"
#include "chains/votes/naive_pallas.hpp"

namespace chains::votes {

TEST_CASE("only values below the prime are field elements") {
    struct Row {
        const char* label;
        const char* digits;
        bool canonical;
    };
    for (const Row& row : {
             Row{"zero", "0000000000000000000000000000000000000000000000000000000000000000", true},
             Row{"p - 1", "00000000ed302d991bf94c09fc98462200000000000000000000000000000040", true},
             Row{"p", "01000000ed302d991bf94c09fc98462200000000000000000000000000000040", false},
             Row{"p + 1", "02000000ed302d991bf94c09fc98462200000000000000000000000000000040",
                 false},
             Row{"p + 2^128", "01000000ed302d991bf94c09fc98462201000000000000000000000000000040",
                 false},
             Row{"2^254", "0000000000000000000000000000000000000000000000000000000000000040", true},
             Row{"2^255", "0000000000000000000000000000000000000000000000000000000000000080",
                 false},
             Row{"2^256 - 1", "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
                 false},
         }) {
        CAPTURE(row.label);
        const auto decoded = tree::PallasField::decode(bytes32(row.digits));
        CHECK(decoded.has_value() == row.canonical);
        if (decoded) CHECK(domain::to_hex(decoded->encode()) == row.digits);
    }
}

TEST_CASE("any 256 bits are reduced to the element they stand for") {
    const std::uint64_t all = ~std::uint64_t{0};
    CHECK(tree::PallasField::reduced({all, all, all, all}).encode() ==
          naive::Number(domain::Bytes32{})
              .plus(naive::Number(bytes32(std::string(64, 'f'))))
              .bytes());
    CHECK(tree::PallasField::reduced({7, 0, 0, 0}) == tree::PallasField::from(7));
}

TEST_CASE("arithmetic agrees with big numbers") {
    std::mt19937_64 random(20'240'611);
    for (int i = 0; i < 3'000; ++i) {
        const auto a = naive::random_element(random);
        const auto b = naive::random_element(random);
        CAPTURE(domain::to_hex(a));
        CAPTURE(domain::to_hex(b));
        const naive::Number x(a);
        const naive::Number y(b);
        REQUIRE((element(a) + element(b)).encode() == x.plus(y).bytes());
        REQUIRE((element(a) * element(b)).encode() == x.times(y).bytes());
        REQUIRE(element(a).fifth_power().encode() == x.times(x).times(x).times(x).times(x).bytes());
        REQUIRE(element(a).encode() == a);
    }
}

TEST_CASE("a sum of three products agrees with big numbers, also of the largest") {
    std::mt19937_64 random(7);
    const auto largest =
        bytes32("00000000ed302d991bf94c09fc98462200000000000000000000000000000040");
    for (int i = 0; i < 1'000; ++i) {
        tree::PallasField::Triple a;
        tree::PallasField::Triple b;
        naive::Number sum;
        for (std::size_t j = 0; j < 3; ++j) {
            const auto left = i == 0 ? largest : naive::random_element(random);
            const auto right = i == 0 ? largest : naive::random_element(random);
            a[j] = element(left);
            b[j] = element(right);
            sum = sum.plus(naive::Number(left).times(naive::Number(right)));
        }
        REQUIRE(tree::PallasField::dot(a, b).encode() == sum.bytes());
    }
}

TEST_CASE("inverses agree with big numbers, and zero has none") {
    std::mt19937_64 random(11);
    for (int i = 0; i < 50; ++i) {
        const auto a = naive::random_element(random);
        if (element(a) == tree::PallasField{}) continue;
        CHECK(element(a).inverse().encode() == naive::Number(a).inverse().bytes());
    }
    CHECK(tree::PallasField{}.inverse() == tree::PallasField{});
}

}  // namespace chains::votes
