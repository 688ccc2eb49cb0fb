#include "chains/evm/calls.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "chains/evm/encodings.hpp"
#include "chains/evm/golden.hpp"
#include "domain/access_list.hpp"
#include "domain/handle.hpp"
#include "domain/keccak.hpp"

using namespace chains::evm;
using golden::hex;

namespace {

const std::string start = "6553f100";
const std::string user = "2222222222222222222222222222222222222222";
const std::string delegate = "3333333333333333333333333333333333333333";

std::string padded(const std::string& digits) {
    return std::string(64 - digits.size(), '0') + digits;
}

domain::UnifiedUserDecrypt anybody() {
    domain::UnifiedUserDecrypt request = golden::unified_user_decrypt();
    request.allowed_contracts.clear();
    request.signature.clear();
    return request;
}

domain::Bytes32 handle_on(std::uint64_t chain, std::uint8_t number) {
    domain::Bytes32 handle{};
    handle[0] = number;
    for (std::size_t at = 0; at < 8; ++at) {
        handle[29 - at] = static_cast<std::uint8_t>(chain >> (8 * at));
    }
    return handle;
}

}  // namespace

TEST_CASE("calls hash to what appendix A says") {
    struct Row {
        std::string_view label;
        domain::Bytes call;
        std::size_t bytes;
        const char* hash;
    };
    const Row rows[] = {
        {"input proof", request_call(golden::input_proof()), 292,
         "c59702c5fbca3f788172d57d947b327a866ea65a0829d588cfa879ab48ab7c77"},
        {"public", request_call(golden::public_decrypt()), 196,
         "338f951502d486dfd88d925dbf2d932cad5cb9a3611636256f3e8777c47359de"},
        {"user v2", request_call(golden::user_decrypt()), 740,
         "bd171b575a2c727d7efc764501460c2ff09ba1d05323f83d60f76247f2502995"},
        {"delegated v2", request_call(golden::delegated_user_decrypt()), 772,
         "276d879164912d9c8867d182f7bb3c660b35e69e6ab187852741a6dddb347dad"},
        {"unified v3", request_call(golden::unified_user_decrypt()), 708,
         "585bc2dc11f0ad86b78472269848ea4bc3a2833273e34c1d71826ad5772b1d29"},
        {"unified v3 for any contract", request_call(anybody()), 580,
         "2da6f82afba7161958937cf83ed99c9071633e983f6817d1d399fe159586b9de"},
        {"public readiness", readiness_call(golden::public_decrypt()), 196,
         "3b2911d872ee47d1481dd71a507319d6ba19912ad3e5ffb7c46693c0fb9ce8d3"},
        {"user readiness", readiness_call(golden::user_decrypt()), 228,
         "bd62265ded9ab449a9cb694eaf1393941d033fff285260f9a30820bf13e442f5"},
        {"access list, user v2", multicall(acl_calls(golden::user_decrypt(), 8009)), 388,
         "8d6d488033d7ff6717856db63bb82d545cafe806e3fd5b169be95e482e2e7330"},
        {"access list, public", multicall(acl_calls(golden::public_decrypt(), 8009)), 196,
         "ff61fbd6b20390e1a8c13023547bd9bf405f6234161cff58dada182d25738ae3"},
        {"access list, delegated", acl_calls(golden::delegated_user_decrypt(), 8009).at(0), 132,
         "1becd10ebab45b42a2bba8e97f1dfcad6b8280dadd8f3be426e91cf9f196ea64"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        CHECK(row.call.size() == row.bytes);
        CHECK(domain::to_hex(domain::keccak256(row.call)) == row.hash);
    }
}

TEST_CASE("the input proof of appendix A, in full") {
    CHECK(request_call(golden::input_proof()) ==
          hex("a7004996"
              "0000000000000000000000000000000000000000000000000000000000001f49"
              "0000000000000000000000001111111111111111111111111111111111111111"
              "0000000000000000000000002222222222222222222222222222222222222222"
              "00000000000000000000000000000000000000000000000000000000000000a0"
              "00000000000000000000000000000000000000000000000000000000000000e0"
              "0000000000000000000000000000000000000000000000000000000000000003"
              "abcdef0000000000000000000000000000000000000000000000000000000000"
              "0000000000000000000000000000000000000000000000000000000000000001"
              "0000000000000000000000000000000000000000000000000000000000000000"));
}

TEST_CASE("the heads of appendix A") {
    struct Row {
        std::string_view label;
        domain::Bytes call;
        std::vector<std::string> heads;
    };
    const Row rows[] = {
        {"user v2",
         request_call(golden::user_decrypt()),
         {"100", start, "7", "160", user, "1e0", "220", "2a0"}},
        {"delegated v2",
         request_call(golden::delegated_user_decrypt()),
         {"120", start, "7", user, delegate, "180", "200", "240", "2c0"}},
        {"unified v3",
         request_call(golden::unified_user_decrypt()),
         {"100", user, "180", "1c0", start, "93a80", "200", "280"}},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        const domain::ByteView arguments = domain::ByteView{row.call}.subspan(4);
        for (std::size_t at = 0; at < row.heads.size(); ++at) {
            CAPTURE(at);
            CHECK(domain::to_hex(*decode_word(arguments, at)) == padded(row.heads[at]));
        }
    }
}

TEST_CASE("all user decrypts ask readiness of handles and contracts alone") {
    const domain::Bytes direct = readiness_call(golden::user_decrypt());
    CHECK(readiness_call(golden::delegated_user_decrypt()) == direct);
    CHECK(readiness_call(golden::unified_user_decrypt()) == direct);
}

TEST_CASE("a unified decrypt asks about the owner's handles or about the delegation") {
    domain::UnifiedUserDecrypt request = golden::unified_user_decrypt();
    request.handles.push_back({golden::handle, golden::contract, golden::delegate});
    const auto calls = acl_calls(request, 8009);
    REQUIRE(calls.size() == 2);
    const std::string handle = domain::to_hex(golden::handle);
    CHECK(domain::to_hex(calls[0]) == "82027b6d" + handle + padded(user));
    CHECK(domain::to_hex(calls[1]) == "d09c0dee" + padded(delegate) + padded(user) +
                                          padded(domain::to_hex(golden::contract)) + handle);
}

TEST_CASE("the access list of each chain is asked about its own handles, in their order") {
    const std::uint64_t chains[] = {8009, 1, 0xffffffffffffffff};
    domain::PublicDecrypt open;
    domain::UserDecrypt direct = golden::user_decrypt();
    domain::DelegatedUserDecrypt delegated = golden::delegated_user_decrypt();
    domain::UnifiedUserDecrypt unified = golden::unified_user_decrypt();
    direct.pairs.clear();
    delegated.pairs.clear();
    unified.handles.clear();
    for (std::uint8_t number = 0; number < 9; ++number) {
        const domain::Bytes32 handle = handle_on(chains[number % 3], number);
        open.handles.push_back(handle);
        direct.pairs.push_back({handle, golden::filled(number)});
        delegated.pairs.push_back({handle, golden::filled(number)});
        unified.handles.push_back(
            {handle, golden::filled(number), number % 2 ? golden::user : golden::delegate});
    }
    for (const domain::Request& request : {domain::Request{open}, domain::Request{direct},
                                           domain::Request{delegated}, domain::Request{unified}}) {
        CAPTURE(to_string(domain::kind_of(request)));
        std::size_t asked = 0;
        for (const std::uint64_t chain : chains) {
            const auto calls = acl_calls(request, chain);
            std::size_t next = 0;
            for (const domain::AclQuestion& question : domain::acl_questions(request)) {
                if (domain::host_chain_of(question.handle) != chain) continue;
                REQUIRE(next < calls.size());
                const std::string call = domain::to_hex(calls[next++]);
                CAPTURE(question.check);
                CHECK(call.find(domain::to_hex(question.handle)) != std::string::npos);
                CHECK(call.starts_with(question.check.starts_with("isAllowedFor") ? "c0d02943"
                                       : question.check.starts_with("isAllowed(") ? "82027b6d"
                                                                                  : "d09c0dee"));
                ++asked;
            }
            CHECK(next == calls.size());
        }
        CHECK(asked == domain::acl_questions(request).size());
        CHECK(acl_calls(request, 2).empty());
    }
    CHECK(acl_calls(golden::input_proof(), 8009).empty());
}

TEST_CASE("getters, balances and signatures") {
    CHECK(getter(Getter::active_key_id) == hex("d52f10eb"));
    domain::Bytes32 id{};
    id[31] = 5;
    CHECK(domain::to_hex(getter(Getter::key_materials, id)) == "936608ae" + padded("5"));
    CHECK(domain::to_hex(balance_of(golden::user)) == "70a08231" + padded(user));
    CHECK(domain::to_hex(allowance(golden::user, golden::delegate)) ==
          "dd62ed3e" + padded(user) + padded(delegate));
    domain::Bytes32 digest;
    digest.fill(0x11);
    CHECK(domain::to_hex(is_valid_signature(digest, hex("0102"))) ==
          "1626ba7e" + domain::to_hex(digest) + padded("40") + padded("2") + "0102" +
              std::string(60, '0'));
}

TEST_CASE("a bool is in byte 31 of at least 32") {
    CHECK_FALSE(decode_bool({}));
    CHECK_FALSE(decode_bool(domain::Bytes(31, 1)));
    CHECK(decode_bool(domain::Bytes(32, 0)) == false);
    domain::Bytes word(32, 0);
    word[0] = 1;
    CHECK(decode_bool(word) == false);
    word[31] = 2;
    CHECK(decode_bool(word) == true);
    word.push_back(0);
    CHECK(decode_bool(word) == true);
}

TEST_CASE("words and numbers of an answer") {
    const domain::Bytes two = hex(padded("7") + padded("10000000000000000"));
    CHECK(decode_number(two, 0) == 7);
    CHECK_FALSE(decode_number(two, 1));
    CHECK(decode_word(two, 1));
    CHECK_FALSE(decode_word(two, 2));
    CHECK_FALSE(decode_word(two, ~std::size_t{0}));
    CHECK_FALSE(decode_word({}, 0));
}

TEST_CASE("what a multicall brings") {
    const auto results = decode_bytes_array(hex(encodings::bytes_array));
    REQUIRE(results);
    CHECK(*results == std::vector<domain::Bytes>{hex(padded("1")), {}, hex("aabb")});
    CHECK_FALSE(decode_bytes_array({}));
    CHECK(decode_bytes_array(hex(padded("20") + padded("0")))->empty());
}

TEST_CASE("materials of keys are told from other answers") {
    CHECK(decodes_as_key_materials(hex(encodings::key_materials)));
    CHECK(decodes_as_crs_materials(hex(encodings::crs_materials)));
    CHECK_FALSE(decodes_as_key_materials(hex(encodings::crs_materials)));
    CHECK_FALSE(decodes_as_key_materials({}));
    CHECK_FALSE(decodes_as_crs_materials({}));
    CHECK_FALSE(decodes_as_crs_materials(hex(encodings::error_text)));

    std::string type_too_large{encodings::key_materials};
    const std::string first_digest = padded("1") + padded("40") + padded("2");
    const auto at = type_too_large.find(first_digest);
    REQUIRE(at != std::string::npos);
    type_too_large.replace(at, 64, padded("100"));
    CHECK_FALSE(decodes_as_key_materials(hex(type_too_large)));
}
