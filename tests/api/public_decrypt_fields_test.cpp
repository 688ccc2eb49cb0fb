// Every member of POST /v2/public-decrypt by every rule that applies (relayer-api 1.9, 13.5).

#include "api/field_rows.hpp"

namespace {

using api_test::Harness;
using api_test::Json;

const api_test::Target public_target{"/v2/public-decrypt", "public-decrypt.json"};

TEST_CASE("T-057 public decrypt: handles, by the rule HANDLE (D-10)") {
    Harness harness;
    check_fields(harness, public_target,
                 {{"ciphertextHandles", Json::array(), {"Must not be empty"}}});
    check_fields(harness, public_target, api_test::handle_rows("ciphertextHandles.0"));
    const std::string good =
        Json::parse(api_test::sample(public_target.file))["ciphertextHandles"][0]
            .get<std::string>();
    for (const Json& list :
         {Json{good, "0xabc"}, Json{good, "0xabc", "12", ""}, Json{"0xabc", "", good}}) {
        check_fields(harness, public_target, {{"ciphertextHandles", list, {"Invalid hex string"}}});
    }
    check_fields(harness, public_target, {{"ciphertextHandles", Json{good, good}}});
}

TEST_CASE("T-058 public decrypt: extraData in its three formats") {
    Harness harness;
    check_fields(harness, public_target, api_test::extra_data_rows("extraData"));
}

TEST_CASE("T-059 public decrypt: each member removed, broken JSON") {
    Harness harness;
    check_missing(harness, public_target, "", {"ciphertextHandles", "extraData"});
    check_malformed(harness, public_target);
}

TEST_CASE("1.5: failures of a public decrypt come all, in the order of the members") {
    Harness harness;
    check_all_failures(
        harness, public_target, {{"extraData", ""}, {"ciphertextHandles", Json::array()}},
        {{"ciphertextHandles", "Must not be empty"}, {"extraData", api_test::not_extra_data}});
}

TEST_CASE("1.6: the first handle of a chain that is not configured is named") {
    const std::string known = "0x84ad8128dedc45b21fec61f5c69988c584e2975330000000000000001f490500";
    const auto of_chain = [&](const std::string& chain) {
        std::string handle = known;
        return handle.replace(2 + 44, 16, chain);
    };
    struct Row {
        const char* label;
        Json handles;
        const char* chain;  // of the refusal; empty: accepted
    };
    const Row rows[] = {
        {"known", {known}, ""},
        {"unknown", {of_chain("000000000001869f")}, "99999"},
        {"unknown behind known", {known, of_chain("000000000001869f")}, "99999"},
        {"the first of two", {of_chain("0000000000000001"), of_chain("000000000001869f")}, "1"},
        {"largest", {of_chain("ffffffffffffffff")}, "18446744073709551615"},
        {"zero", {of_chain("0000000000000000")}, "0"},
        {"second configured chain", {known, of_chain("0000000000002329")}, ""},
    };
    api::Options options;
    options.host_chain_ids = {8009, 9001};
    Harness harness(options);
    harness.submitter.forced = engine::QueueFull{4};  // a chain is looked at before the gates
    for (const Row& row : rows) {
        CAPTURE(row.label);
        const auto answer = harness.post(
            public_target.path,
            api_test::sample_with(public_target.file, "ciphertextHandles", row.handles));
        if (*row.chain == '\0') {
            CHECK(answer.status == 429);
            continue;
        }
        CHECK(answer.status == 400);
        CHECK(answer.label() == "host_chain_id_not_supported");
        CHECK(answer.message() ==
              std::string("Host chain ID ") + row.chain + " is not supported by this relayer");
        CHECK(answer.details().is_null());
    }
    CHECK(harness.submitter.requests.size() == 2);
}

}  // namespace
