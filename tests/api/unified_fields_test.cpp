// Every member of POST /v3/user-decrypt by every rule that applies (relayer-api 1.11, 13.7).

#include "api/field_rows.hpp"

namespace {

using api_test::Answer;
using api_test::characters;
using api_test::Harness;
using api_test::Json;

const api_test::Target unified_target{"/v3/user-decrypt", "user-decrypt-v3.json"};
const std::string payload = "attestedPayload.";

// A changed member makes the sample's signature wrong; a contract at the user's address may still
// stand behind it.
struct Vouched : Harness {
    Vouched() { contracts.answer = engine::SignatureValid{}; }
};

void check_invalid_signature(const Answer& answer) {
    CHECK(answer.status == 400);
    CHECK(answer.label() == "validation_failed");
    CHECK(answer.message() == "Validation failed for 1 field(s)");
    CHECK(answer.details() == Json{{{"field", "signature"}, {"issue", "Signature is invalid"}}});
}

TEST_CASE("T-100 v3: one direct handle with the user's own signature") {
    Harness harness;
    Json body = Json::parse(api_test::sample(unified_target.file));
    // The handles are not part of what is signed (1.11 point 2).
    body["attestedPayload"]["handles"].erase(1);
    CHECK(body["attestedPayload"]["handles"][0]["ownerAddress"] ==
          body["attestedPayload"]["userAddress"]);
    CHECK(harness.post(unified_target.path, body.dump()).status == 202);
    CHECK(harness.contracts.asked_chains.empty());
}

TEST_CASE("T-101 v3: allowedContracts empty, one, three") {
    Vouched harness;
    const std::string contract = "0x" + characters(40);
    for (const Json& list : {Json::array(), Json{contract}, Json{contract, contract, contract}}) {
        check_fields(harness, unified_target, {{payload + "allowedContracts", list}});
    }
    check_fields(harness, unified_target, api_test::address_rows(payload + "allowedContracts.0"));
    check_fields(harness, unified_target,
                 {{payload + "allowedContracts", Json{contract, "12"}, {"Must start with 0x"}}});
}

TEST_CASE("T-102 v3: a signature of 100 bytes and no code at the user's address") {
    Harness harness;
    check_invalid_signature(harness.post(
        unified_target.path,
        api_test::sample_with(unified_target.file, "signature", "0x" + characters(200, '7'))));
    CHECK(harness.contracts.asked_chains == std::vector<std::uint64_t>{8009});
}

TEST_CASE("T-103 v3: another attestationType, or none") {
    Harness harness;
    for (const char* type : {"", "ed25519", "eip712-unified-user-decrypt-v2",
                             "EIP712-unified-user-decrypt-v1", "eip712-unified-user-decrypt-v1 "}) {
        check_fields(harness, unified_target,
                     {{"attestationType",
                       type,
                       {"Unsupported attestationType; expected one of: "
                        "[eip712-unified-user-decrypt-v1]"}}});
    }
    check_missing(harness, unified_target, "", {"attestationType", "attestedPayload", "signature"});
}

TEST_CASE("T-104 v3: no signature at all from a plain account") {
    Harness harness;
    for (const char* nothing : {"0x", ""}) {
        CAPTURE(nothing);
        check_invalid_signature(harness.post(
            unified_target.path, api_test::sample_with(unified_target.file, "signature", nothing)));
    }
    Vouched contract;
    check_fields(contract, unified_target,
                 {{"signature", ""},
                  {"signature", "0x"},
                  {"signature", "0xAb"},
                  {"signature", "0x" + characters(2'000)},
                  {"signature", "abcd", {"Must start with 0x"}},
                  {"signature", "0X", {"Must start with 0x"}},
                  {"signature", "0xa", {"Invalid hex string"}},
                  {"signature", "0xzz", {"Invalid hex string"}}});
}

TEST_CASE("T-105 v3: version and type") {
    Harness harness;
    for (const char* version : {"1.0", "2", "2.00", " 2.0", ""}) {
        check_fields(harness, unified_target,
                     {{payload + "version", version, {"Unsupported version; expected \"2.0\""}}});
    }
    for (const char* type : {"public_decryption", "User_decryption", ""}) {
        check_fields(
            harness, unified_target,
            {{payload + "type", type, {"Unsupported payload type; expected \"user_decryption\""}}});
    }
}

TEST_CASE("T-106 v3: handles") {
    Vouched harness;
    const std::string handles = payload + "handles";
    check_fields(harness, unified_target, {{handles, Json::array(), {"Must not be empty"}}});
    check_fields(harness, unified_target, api_test::handle_rows(handles + ".0.ctHandle"));
    check_fields(harness, unified_target, api_test::address_rows(handles + ".0.contractAddress"));
    check_fields(harness, unified_target, api_test::address_rows(handles + ".1.ownerAddress"));
    const Json entry =
        Json::parse(api_test::sample(unified_target.file))["attestedPayload"]["handles"][0];
    const auto with = [&](const char* handle, const char* contract, const char* owner) {
        Json bad = entry;
        if (*handle != '\0') bad["ctHandle"] = handle;
        if (*contract != '\0') bad["contractAddress"] = contract;
        if (*owner != '\0') bad["ownerAddress"] = owner;
        return bad;
    };
    // Inside an entry the order of the members, then the order of the entries.
    check_fields(
        harness, unified_target,
        {{handles, Json{with("0xab", "12", "12")}, {"Must be 64 characters long"}},
         {handles, Json{with("", "0x12", "12")}, {"Must be 42 characters long"}},
         {handles, Json{with("", "", "12"), with("0xab", "", "")}, {"Must start with 0x"}}});
}

TEST_CASE("T-107 v3: each member removed, and each two, by its bare name") {
    Harness harness;
    check_missing(harness, unified_target, "attestedPayload.handles.0",
                  {"ctHandle", "contractAddress", "ownerAddress"});
    check_missing(harness, unified_target, "attestedPayload",
                  {"version", "type", "handles", "userAddress", "allowedContracts",
                   "requestValidity", "publicKey", "extraData"});
    check_missing(harness, unified_target, "attestedPayload.requestValidity",
                  {"startTimestamp", "durationSeconds"});
}

TEST_CASE("T-108 v3: extraData") {
    Vouched harness;
    check_fields(harness, unified_target, api_test::extra_data_rows(payload + "extraData"));
}

TEST_CASE("T-109 v3: broken JSON") {
    Harness harness;
    check_malformed(harness, unified_target);
}

TEST_CASE("1.11: userAddress and publicKey") {
    Vouched harness;
    check_fields(harness, unified_target, api_test::address_rows(payload + "userAddress"));
    const std::string key = payload + "publicKey";
    check_fields(harness, unified_target,
                 {{key, "0xab"},
                  {key, "0xABCD"},
                  {key, "", {"Must not be empty", "Must start with 0x"}},
                  {key, "0x", {"Must not be empty"}},
                  {key, "0xa", {"Must not be empty", "Invalid hex string"}},
                  {key, "abc", {"Must not be empty", "Must start with 0x"}},
                  {key, "abcd", {"Must start with 0x"}},
                  {key, "0xabc", {"Invalid hex string"}},
                  {key, "0xzz", {"Invalid hex string"}}});
}

TEST_CASE("1.11: the window: start, duration, start as u64, end, in this order") {
    const std::string u256 = "Value must be a valid U256 number";
    const std::string u64 = "Value must be a valid u64 number";
    const std::string start_u64 = "startTimestamp must be a valid u64 number";
    const std::string future = "Timestamp must not be in the future";
    const std::string expired = "requestValidity window has already expired";
    struct Row {
        const char* start;
        const char* duration;
        std::string issue;  // empty: accepted
    };
    // It is 1780272000.
    const Row rows[] = {
        {"1780272000", "1", ""},
        {"1780271999", "2", ""},
        {"0", "18446744073709551615", ""},
        {"1780272000", "18446744073709551615", ""},  // the end saturates
        {"1780271999", "1", expired},
        {"1780272000", "0", expired},
        {"0", "0", expired},
        {"1600000000", "60", expired},
        {"1780272001", "60", future},
        {"99999999999", "x", future},
        {"soon", "x", u256},
        {"", "60", u256},
        {"115792089237316195423570985008687907853269984665640564039457584007913129639936", "1",
         u256},
        {"18446744073709551616", "1", future},
        {"1780272000", "x", u64},
        {"1780272000", "18446744073709551616", u64},
        {"1780272000", "", u64},
        {"1780272000", "-1", u64},
        {"0x6a1ccb80", "x", u64},
        {"0x6a1ccb80", "60", start_u64},
        {"0x0", "0", start_u64},
    };
    Vouched harness;
    for (const Row& row : rows) {
        check_fields(harness, unified_target,
                     {{payload + "requestValidity",
                       {{"startTimestamp", row.start}, {"durationSeconds", row.duration}},
                       row.issue.empty() ? std::vector<std::string>{}
                                         : std::vector<std::string>{row.issue}}});
    }
}

TEST_CASE("1.5: failures of a unified decrypt come all, in the order of the members") {
    Harness harness;
    check_all_failures(
        harness, unified_target,
        {{"signature", "zz"},
         {"attestedPayload.extraData", ""},
         {"attestedPayload.publicKey", ""},
         {"attestedPayload.requestValidity", {{"startTimestamp", ""}, {"durationSeconds", ""}}},
         {"attestedPayload.allowedContracts", {"12"}},
         {"attestedPayload.userAddress", ""},
         {"attestedPayload.handles", Json::array()},
         {"attestedPayload.type", ""},
         {"attestedPayload.version", ""},
         {"attestationType", ""}},
        {{"attestationType",
          "Unsupported attestationType; expected one of: [eip712-unified-user-decrypt-v1]"},
         {"attestedPayload.version", "Unsupported version; expected \"2.0\""},
         {"attestedPayload.type", "Unsupported payload type; expected \"user_decryption\""},
         {"attestedPayload.handles", "Must not be empty"},
         {"attestedPayload.userAddress", "Must start with 0x"},
         {"attestedPayload.allowedContracts", "Must start with 0x"},
         {"attestedPayload.requestValidity", "Value must be a valid U256 number"},
         {"attestedPayload.publicKey", "Must not be empty"},
         {"attestedPayload.publicKey", "Must start with 0x"},
         {"attestedPayload.extraData", api_test::not_extra_data},
         {"signature", "Must start with 0x"}});
}

}  // namespace
