#include "domain/request.hpp"

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

std::string repeated(std::string_view text, std::size_t times) {
    std::string all;
    for (std::size_t i = 0; i < times; ++i) all += text;
    return all;
}

}  // namespace

TEST_CASE("every kind of request is read back as it was written, and from nothing else") {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        for (const Kind kind : kinds) {
            CAPTURE(seed);
            CAPTURE(to_string(kind));
            support::Chance chance{seed};
            const Request request = support::random_request(kind, chance);
            REQUIRE(kind_of(request) == kind);

            const Bytes encoded = encode(request);
            REQUIRE(encoded.capacity() == encoded.size());
            REQUIRE(decode_request(encoded) == request);
            check_strict(encoded, decode_request);
        }
    }
}

TEST_CASE("bytes that decode are the bytes their request encodes to") {
    for (std::uint64_t seed = 1; seed <= 3'000; ++seed) {
        CAPTURE(seed);
        support::Chance chance{seed};
        const Kind kind = kinds.at(chance.up_to(kinds.size() - 1));
        Bytes bytes = encode(support::random_request(kind, chance));
        const std::uint64_t changes = 1 + chance.up_to(3);
        for (std::uint64_t i = 0; i < changes; ++i) {
            bytes[chance.up_to(bytes.size() - 1)] = static_cast<std::uint8_t>(chance.up_to(255));
        }
        if (const auto decoded = decode_request(bytes)) CHECK(encode(*decoded) == bytes);
    }
}

TEST_CASE("the stored form is version, kind and members in order, big-endian") {
    Address contract{};
    contract.fill(0x11);
    Address user{};
    user.fill(0x22);
    const InputProof proof{.contract_chain_id = 0x0102030405060708,
                           .contract_address = contract,
                           .user_address = user,
                           .ciphertext = {0xaa, 0xbb, 0xcc},
                           .extra_data = {}};
    CHECK(to_hex(encode(Request{proof})) ==
          "01"
          "00"
          "0102030405060708" +
              repeated("11", 20) + repeated("22", 20) +
              "00000003"
              "aabbcc"
              "00000000");

    Bytes32 handle{};
    handle.fill(0x33);
    CHECK(to_hex(encode(Request{PublicDecrypt{.handles = {handle}, .extra_data = {0x00}}})) ==
          "01"
          "01"
          "00000001" +
              repeated("33", 32) +
              "00000001"
              "00");
}

TEST_CASE("the stored form of user decryptions keeps their members in order") {
    const auto fill = [](auto container, std::uint8_t byte) {
        container.fill(byte);
        return container;
    };
    const auto handle = fill(Bytes32{}, 0x01);
    const auto contract = fill(Address{}, 0x02);
    const auto user = fill(Address{}, 0x03);
    const auto other = fill(Address{}, 0x04);

    const std::string handle_hex = repeated("01", 32);
    const std::string contract_hex = repeated("02", 20);
    const std::string user_hex = repeated("03", 20);
    const std::string other_hex = repeated("04", 20);
    const std::string one = "00000001";

    const UserDecrypt direct{.pairs = {{handle, contract}},
                             .start_timestamp = 5,
                             .duration_days = 6,
                             .contracts_chain_id = 7,
                             .contract_addresses = {contract},
                             .user_address = user,
                             .signature = {0x08},
                             .public_key = {0x09},
                             .extra_data = {0x0a}};
    CHECK(to_hex(encode(Request{direct})) == "0102" + one + handle_hex + contract_hex +
                                                 "0000000000000005"
                                                 "00000006"
                                                 "0000000000000007" +
                                                 one + contract_hex + user_hex + one + "08" + one +
                                                 "09" + one + "0a");

    const DelegatedUserDecrypt delegated{.pairs = {{handle, contract}},
                                         .contracts_chain_id = 7,
                                         .contract_addresses = {contract},
                                         .delegator_address = user,
                                         .delegate_address = other,
                                         .start_timestamp = 5,
                                         .duration_days = 6,
                                         .signature = {0x08},
                                         .public_key = {0x09},
                                         .extra_data = {0x0a}};
    CHECK(to_hex(encode(Request{delegated})) == "0103" + one + handle_hex + contract_hex +
                                                    "0000000000000007" + one + contract_hex +
                                                    user_hex + other_hex +
                                                    "0000000000000005"
                                                    "00000006" +
                                                    one + "08" + one + "09" + one + "0a");

    const UnifiedUserDecrypt unified{.handles = {{handle, contract, other}},
                                     .user_address = user,
                                     .allowed_contracts = {contract},
                                     .start_timestamp = 5,
                                     .duration_seconds = 6,
                                     .public_key = {0x09},
                                     .extra_data = {0x0a},
                                     .signature = {0x08}};
    CHECK(to_hex(encode(Request{unified})) == "0104" + one + handle_hex + contract_hex + other_hex +
                                                  user_hex + one + contract_hex +
                                                  "0000000000000005"
                                                  "0000000000000006" +
                                                  one + "09" + one + "0a" + one + "08");
}

TEST_CASE("the numbers, words and bytes of a share keep their places") {
    VoteShare share;
    share.round_id.fill(0x01);
    share.shares_hash.fill(0x02);
    share.proposal_id = 3;
    share.vote_decision = 4;
    share.tree_position = 5;
    share.submit_at = 6;
    share.c1.fill(0x07);
    share.c2.fill(0x08);
    share.share_index = 9;
    std::string comms;
    for (std::size_t i = 0; i < share.share_comms.size(); ++i) {
        share.share_comms.at(i).fill(static_cast<std::uint8_t>(0x10 + i));
        comms += to_hex(share.share_comms.at(i));
    }
    share.primary_blind.fill(0x0a);
    CHECK(to_hex(encode(Request{share})) == "0105" + repeated("01", 32) + repeated("02", 32) +
                                                "00000003"
                                                "00000004"
                                                "00000005"
                                                "0000000000000006" +
                                                repeated("07", 32) + repeated("08", 32) +
                                                "00000009" + comms + repeated("0a", 32));
}

TEST_CASE("an unknown kind is no request") {
    support::Chance chance{7};
    for (const Kind kind : kinds) {
        Bytes bytes = encode(support::random_request(kind, chance));
        for (int tag = static_cast<int>(kinds.size()); tag < 256; ++tag) {
            CAPTURE(to_string(kind));
            CAPTURE(tag);
            bytes[1] = static_cast<std::uint8_t>(tag);
            CHECK_FALSE(decode_request(bytes).has_value());
        }
    }
}

TEST_CASE("a count that the rest of the bytes cannot hold is refused") {
    struct Row {
        std::string_view label;
        std::string head;
    };
    const std::vector<Row> rows{
        {"bytes of a proof", "0100" + repeated("00", 48)},
        {"handles", "0101"},
        {"pairs", "0102"},
        {"contracts of a delegation",
         "0103"
         "00000000" +
             repeated("00", 8)},
        {"owned handles", "0104"},
    };
    for (const Row& row : rows) {
        for (const std::string_view count :
             {"ffffffff", "80000000", "7fffffff", "10000000", "00000100", "00000041"}) {
            CAPTURE(row.label);
            CAPTURE(count);
            const auto bytes = from_hex(row.head + std::string{count} + repeated("00", 64));
            REQUIRE(bytes.has_value());
            CHECK_FALSE(decode_request(*bytes).has_value());
        }
    }
}

TEST_CASE("a large proof survives the stored form") {
    InputProof proof;
    proof.ciphertext.assign(2'000'000, 0x5a);
    CHECK(decode_request(encode(Request{proof})) == Request{proof});
}
