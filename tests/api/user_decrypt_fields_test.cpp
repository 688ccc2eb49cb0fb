// Every member of the two v2 user decryptions by every rule that applies (relayer-api 1.10, 13.6).

#include "api/field_rows.hpp"

namespace {

using api_test::Harness;
using api_test::Json;
using api_test::Target;

const Target direct_target{"/v2/user-decrypt", "user-decrypt.json"};
const Target delegated_target{"/v2/delegated-user-decrypt", "delegated-user-decrypt.json"};
const Target both[] = {direct_target, delegated_target};

TEST_CASE("T-077 user decrypt, delegated: contractsChainId") {
    Harness harness;
    for (const Target& target : both) {
        check_fields(harness, target, api_test::chain_rows("contractsChainId"));
    }
}

TEST_CASE("T-078 user decrypt, delegated: contractAddresses") {
    Harness harness;
    const std::string good = "0x" + api_test::characters(40);
    for (const Target& target : both) {
        check_fields(harness, target,
                     {{"contractAddresses", Json::array(), {"Must not be empty"}},
                      {"contractAddresses", Json{good, good}},
                      {"contractAddresses", Json{good, "12"}, {"Must start with 0x"}},
                      {"contractAddresses", Json{"0x12", "12"}, {"Must be 42 characters long"}}});
        check_fields(harness, target, api_test::address_rows("contractAddresses.0"));
    }
}

TEST_CASE("T-079 user decrypt: userAddress; delegated: delegatorAddress and delegateAddress") {
    Harness harness;
    check_fields(harness, direct_target, api_test::address_rows("userAddress"));
    check_fields(harness, delegated_target, api_test::address_rows("delegatorAddress"));
    check_fields(harness, delegated_target, api_test::address_rows("delegateAddress"));
}

TEST_CASE("T-080 user decrypt, delegated: no pairs") {
    Harness harness;
    for (const Target& target : both) {
        check_fields(harness, target,
                     {{"handleContractPairs", Json::array(), {"Must not be empty"}}});
    }
}

TEST_CASE("T-081 user decrypt, delegated: handles and contracts of the pairs") {
    Harness harness;
    for (const Target& target : both) {
        check_fields(harness, target, api_test::handle_rows("handleContractPairs.0.handle"));
        check_fields(harness, target,
                     api_test::address_rows("handleContractPairs.0.contractAddress"));
        // The handle goes first, and the first bad entry decides.
        check_fields(harness, target,
                     {{"handleContractPairs",
                       Json{{{"handle", "0x12"}, {"contractAddress", ""}}},
                       {"Must be 64 characters long"}},
                      {"handleContractPairs",
                       Json{{{"handle", "0xgg"}, {"contractAddress", ""}},
                            {{"handle", ""}, {"contractAddress", ""}}},
                       {"Invalid hex string"}}});
    }
}

TEST_CASE("T-082 user decrypt, delegated: signature") {
    Harness harness;
    for (const Target& target : both) {
        check_fields(harness, target, api_test::signature_rows("signature"));
    }
}

TEST_CASE("T-083 user decrypt, delegated: publicKey") {
    Harness harness;
    for (const Target& target : both) {
        check_fields(harness, target, api_test::bare_key_rows("publicKey"));
    }
}

TEST_CASE("T-084 user decrypt, delegated: extraData") {
    Harness harness;
    for (const Target& target : both) {
        check_fields(harness, target, api_test::extra_data_rows("extraData"));
    }
}

TEST_CASE("1.10: the window, inside requestValidity or at top level") {
    Harness harness;
    check_fields(harness, direct_target, api_test::start_rows("requestValidity.startTimestamp"));
    check_fields(harness, direct_target, api_test::u32_rows("requestValidity.durationDays"));
    check_fields(harness, delegated_target, api_test::start_rows("startTimestamp"));
    check_fields(harness, delegated_target, api_test::u32_rows("durationDays"));
    // One failure for the object, two for two members.
    check_fields(harness, direct_target,
                 {{"requestValidity",
                   {{"startTimestamp", "soon"}, {"durationDays", "week"}},
                   {"Value must be a valid U256 number"}}});
    check_all_failures(harness, delegated_target,
                       {{"startTimestamp", "soon"}, {"durationDays", "week"}},
                       {{"startTimestamp", "Value must be a valid U256 number"},
                        {"durationDays", "Value must be a valid u32 number"}});
    // A window that is over is the gateway's to refuse.
    check_fields(harness, direct_target,
                 {{"requestValidity", {{"startTimestamp", "1"}, {"durationDays", "0"}}}});
}

TEST_CASE("T-085 user decrypt, delegated: each member removed, and each two") {
    Harness harness;
    check_missing(harness, direct_target, "",
                  {"handleContractPairs", "requestValidity", "contractsChainId",
                   "contractAddresses", "userAddress", "signature", "publicKey", "extraData"});
    check_missing(harness, direct_target, "requestValidity", {"startTimestamp", "durationDays"});
    check_missing(harness, delegated_target, "",
                  {"handleContractPairs", "contractsChainId", "contractAddresses",
                   "delegatorAddress", "delegateAddress", "startTimestamp", "durationDays",
                   "signature", "publicKey", "extraData"});
    for (const Target& target : both) {
        check_missing(harness, target, "handleContractPairs.0", {"handle", "contractAddress"});
    }
}

TEST_CASE("T-086 user decrypt, delegated: broken JSON") {
    Harness harness;
    for (const Target& target : both) check_malformed(harness, target);
}

TEST_CASE("1.5: failures of a user decrypt come all, in the order of the members") {
    Harness harness;
    const std::string start = "Must start with 0x";
    const Json both_set{{"extraData", ""},        {"publicKey", ""},
                        {"signature", "0x"},      {"contractAddresses", Json::array()},
                        {"contractsChainId", ""}, {"handleContractPairs", Json::array()}};
    Json set = both_set;
    set["userAddress"] = "";
    set["requestValidity"] = {{"startTimestamp", ""}, {"durationDays", ""}};
    check_all_failures(harness, direct_target, set,
                       {{"handleContractPairs", "Must not be empty"},
                        {"requestValidity", "Value must be a valid U256 number"},
                        {"contractsChainId", "Must be decimal number or 0x hex string"},
                        {"contractAddresses", "Must not be empty"},
                        {"userAddress", start},
                        {"signature", "Must be 130 characters long"},
                        {"signature", "Must not start with 0x"},
                        {"publicKey", "Must not be empty"},
                        {"extraData", api_test::not_extra_data}});
    set = both_set;
    set["delegatorAddress"] = "";
    set["delegateAddress"] = "";
    set["startTimestamp"] = "";
    set["durationDays"] = "";
    check_all_failures(harness, delegated_target, set,
                       {{"handleContractPairs", "Must not be empty"},
                        {"contractsChainId", "Must be decimal number or 0x hex string"},
                        {"contractAddresses", "Must not be empty"},
                        {"delegatorAddress", start},
                        {"delegateAddress", start},
                        {"startTimestamp", "Value must be a valid U256 number"},
                        {"durationDays", "Value must be a valid u32 number"},
                        {"signature", "Must be 130 characters long"},
                        {"signature", "Must not start with 0x"},
                        {"publicKey", "Must not be empty"},
                        {"extraData", api_test::not_extra_data}});
}

TEST_CASE("1.6: handles of a chain that is not configured, whatever contractsChainId says") {
    const std::string known = "0x84ad8128dedc45b21fec61f5c69988c584e2975330000000000000001f490500";
    Harness harness;
    for (const Target& target : both) {
        CAPTURE(target.path);
        std::string handle = known;
        handle.replace(2 + 44, 16, "000000000001869f");
        const auto answer = harness.post(
            target.path,
            api_test::sample_with(target.file, "handleContractPairs.0.handle", handle));
        CHECK(answer.status == 400);
        CHECK(answer.label() == "host_chain_id_not_supported");
        CHECK(answer.message() == "Host chain ID 99999 is not supported by this relayer");
        // 13.1: the tests of the reference send the gateway's chain here.
        CHECK(
            harness
                .post(target.path, api_test::sample_with(target.file, "contractsChainId", "654321"))
                .status == 202);
    }
}

}  // namespace
