#include "domain/result.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "domain/strictness.hpp"
#include "support/chance.hpp"
#include "support/random_requests.hpp"

using namespace domain;

namespace {

KmsShare random_kms_share(support::Chance& chance) {
    return {.index = chance.u32(),
            .payload = chance.bytes(40),
            .signature = chance.bytes(65),
            .extra_data = chance.bytes(33)};
}

Result random_result(std::size_t index, support::Chance& chance) {
    const auto word = [&] { return chance.array<32>(); };
    const auto signature = [&] { return chance.bytes(65); };
    switch (index) {
        case 0:
            return ProofAccepted{.handles = chance.list(3, word),
                                 .signatures = chance.list(3, signature)};
        case 1:
            return PublicDecrypted{.value = chance.bytes(64),
                                   .signatures = chance.list(3, signature),
                                   .extra_data = chance.bytes(33)};
        case 2:
            return UserDecrypted{.shares =
                                     chance.list(3, [&] { return random_kms_share(chance); })};
        default:
            return ShareRevealed{.tx_hash = chance.text(64), .already = chance.coin()};
    }
}

}  // namespace

TEST_CASE("every kind of result is read back as it was written, and from nothing else") {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        for (std::size_t index = 0; index < std::variant_size_v<Result>; ++index) {
            CAPTURE(seed);
            CAPTURE(index);
            support::Chance chance{seed};
            const Result result = random_result(index, chance);
            REQUIRE(result.index() == index);

            const Bytes encoded = encode(result);
            REQUIRE(encoded.capacity() == encoded.size());
            REQUIRE(decode_result(encoded) == result);
            check_strict(encoded, decode_result);
        }
    }
}

TEST_CASE("a single share of a key node is read back as it was written") {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        CAPTURE(seed);
        support::Chance chance{seed};
        const KmsShare share = random_kms_share(chance);
        REQUIRE(decode_kms_share(encode(share)) == share);
        check_strict(encode(share), decode_kms_share);
    }
}

TEST_CASE("bytes that decode are the bytes their result encodes to") {
    for (std::uint64_t seed = 1; seed <= 3'000; ++seed) {
        CAPTURE(seed);
        support::Chance chance{seed};
        Bytes bytes = encode(random_result(chance.up_to(3), chance));
        bytes[chance.up_to(bytes.size() - 1)] = static_cast<std::uint8_t>(chance.up_to(255));
        if (const auto decoded = decode_result(bytes)) CHECK(encode(*decoded) == bytes);
    }
}

TEST_CASE("requests, results and single shares cannot be taken for each other") {
    support::Chance chance{3};
    for (const Kind kind : kinds) {
        CAPTURE(to_string(kind));
        const Bytes request = encode(support::random_request(kind, chance));
        CHECK_FALSE(decode_result(request).has_value());
        CHECK_FALSE(decode_kms_share(request).has_value());
    }
    for (std::size_t index = 0; index < std::variant_size_v<Result>; ++index) {
        CAPTURE(index);
        const Bytes result = encode(random_result(index, chance));
        CHECK_FALSE(decode_request(result).has_value());
        CHECK_FALSE(decode_kms_share(result).has_value());
    }
    CHECK_FALSE(decode_result(encode(random_kms_share(chance))).has_value());
}

TEST_CASE("the stored form of results keeps their members in order") {
    Bytes32 handle{};
    handle.fill(0x01);
    const std::string one = "00000001";
    const KmsShare share{.index = 2, .payload = {3}, .signature = {4}, .extra_data = {5}};
    const std::string share_hex = "00000002" + one + "03" + one + "04" + one + "05";

    CHECK(to_hex(encode(Result{ProofAccepted{.handles = {handle}, .signatures = {{6}, {}}}})) ==
          "0110" + one + to_hex(handle) + "00000002" + one +
              "06"
              "00000000");
    CHECK(to_hex(encode(
              Result{PublicDecrypted{.value = {7}, .signatures = {{6}}, .extra_data = {8}}})) ==
          "0111" + one + "07" + one + one + "06" + one + "08");
    CHECK(to_hex(encode(Result{UserDecrypted{.shares = {share}}})) == "0112" + one + share_hex);
    CHECK(to_hex(encode(share)) == "0120" + share_hex);
}

TEST_CASE("a flag is 0 or 1 and nothing else") {
    Bytes encoded = encode(Result{ShareRevealed{.tx_hash = "AB", .already = true}});
    CHECK(to_hex(encoded) ==
          "01"
          "13"
          "00000002"
          "4142"
          "01");
    for (int byte = 0; byte < 256; ++byte) {
        CAPTURE(byte);
        encoded.back() = static_cast<std::uint8_t>(byte);
        CHECK(decode_result(encoded).has_value() == (byte <= 1));
    }
}

TEST_CASE("a count that the rest of the bytes cannot hold is refused") {
    struct Row {
        std::string_view label;
        std::string head;
    };
    const std::vector<Row> rows{
        {"handles", "0110"},
        {"signatures",
         "0110"
         "00000000"},
        {"value", "0111"},
        {"shares", "0112"},
        {"transaction hash", "0113"},
    };
    for (const Row& row : rows) {
        for (const std::string_view count : {"ffffffff", "80000000", "00000100", "00000011"}) {
            CAPTURE(row.label);
            CAPTURE(count);
            const auto bytes = from_hex(row.head + std::string{count} + std::string(32, '0'));
            REQUIRE(bytes.has_value());
            CHECK_FALSE(decode_result(*bytes).has_value());
        }
    }
}
