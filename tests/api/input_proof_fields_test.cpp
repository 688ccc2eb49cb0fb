// Every member of POST /v2/input-proof by every rule that applies (relayer-api 1.7, 13.4).

#include "api/field_rows.hpp"

namespace {

using api_test::characters;
using api_test::FieldRows;
using api_test::Harness;
using api_test::Json;

const api_test::Target proof_target{"/v2/input-proof", "input-proof-1-value.json"};

TEST_CASE("T-041 T-044 input proof: broken JSON") {
    Harness harness;
    check_malformed(harness, proof_target);
}

TEST_CASE("T-042 input proof: each member by its rules") {
    Harness harness;
    check_fields(harness, proof_target, api_test::chain_rows("contractChainId"));
    check_fields(harness, proof_target, api_test::address_rows("contractAddress"));
    check_fields(harness, proof_target, api_test::address_rows("userAddress"));
    const std::string text = "ciphertextWithInputVerification";
    check_fields(harness, proof_target,
                 {{text, "ab"},
                  {text, "ABCDEF"},
                  {text, characters(60'000)},
                  {text, "", {"Must not be empty"}},
                  {text, "abcdefabcdefs", {"Invalid hex string"}},
                  {text, "abcdef1", {"Invalid hex string"}},
                  {text, "abcdefg", {"Invalid hex string"}},
                  {text, "a", {"Invalid hex string"}},
                  {text, "0xabcdef", {"Must not start with 0x"}},
                  {text, "0x", {"Must not start with 0x"}},
                  {text, "0Xab", {"Invalid hex string"}}});
    // XD-IP: one value and no other, whatever decryptions may send.
    FieldRows extra{{"extraData", "0x00"}};
    for (const std::string& bad : {std::string(), std::string("0x"), std::string("0x01"),
                                   std::string("invalid"), std::string("0X00"), std::string("00"),
                                   std::string("0x0000"), "0x0107" + characters(62, '1'),
                                   "0x0207" + characters(62, '1') + "08" + characters(62, '2')}) {
        extra.push_back({"extraData", bad, {api_test::not_extra_data}});
    }
    check_fields(harness, proof_target, extra);
}

TEST_CASE("T-043 input proof: each member removed, and each two") {
    Harness harness;
    check_missing(harness, proof_target, "",
                  {"contractChainId", "contractAddress", "userAddress",
                   "ciphertextWithInputVerification", "extraData"});
}

TEST_CASE("1.5: failures of an input proof come all, in the order of the members") {
    Harness harness;
    check_all_failures(harness, proof_target,
                       {{"extraData", "0x01"},
                        {"ciphertextWithInputVerification", "0xab"},
                        {"userAddress", "0x12"},
                        {"contractAddress", "12"},
                        {"contractChainId", "x"}},
                       {{"contractChainId", "Must be decimal number or 0x hex string"},
                        {"contractAddress", "Must start with 0x"},
                        {"userAddress", "Must be 42 characters long"},
                        {"ciphertextWithInputVerification", "Must not start with 0x"},
                        {"extraData", api_test::not_extra_data}});
    // As in the example of 1.7.
    check_all_failures(harness, proof_target,
                       {{"ciphertextWithInputVerification", "0xab"}, {"contractAddress", "0x12"}},
                       {{"contractAddress", "Must be 42 characters long"},
                        {"ciphertextWithInputVerification", "Must not start with 0x"}});
}

TEST_CASE("1.6: an input proof may name any chain") {
    Harness harness;
    for (const char* chain : {"8009", "99999", "0", "0xffffffffffffffff"}) {
        CAPTURE(chain);
        CHECK(harness
                  .post(proof_target.path,
                        api_test::sample_with(proof_target.file, "contractChainId", chain))
                  .status == 202);
    }
}

}  // namespace
