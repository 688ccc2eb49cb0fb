// What is said about a body that is no request of its kind (relayer-api 1.4, D-16).

#include <cctype>
#include <string>
#include <string_view>
#include <utility>

#include <doctest/doctest.h>

#include "api/field_rows.hpp"
#include "api/harness.hpp"
#include "api/samples.hpp"

namespace {

using api_test::Answer;
using api_test::Harness;
using api_test::Json;
using api_test::share_path;
using api_test::Target;

const std::string submit_paths[] = {"/v2/input-proof", "/v2/public-decrypt", "/v2/user-decrypt",
                                    "/v2/delegated-user-decrypt", "/v3/user-decrypt"};

const Target proof{"/v2/input-proof", "input-proof-1-value.json"};
const Target public_decrypt{"/v2/public-decrypt", "public-decrypt.json"};
const Target direct{"/v2/user-decrypt", "user-decrypt.json"};
const Target delegated{"/v2/delegated-user-decrypt", "delegated-user-decrypt.json"};
const Target unified{"/v3/user-decrypt", "user-decrypt-v3.json"};

enum class Wanted { text, list, object, chain };

struct Member {
    Target target;
    const char* path;
    Wanted wanted;
    const char* field;  // the real one, by its bare name
};

// Every member there is, at every depth.
const Member members[] = {
    {proof, "contractChainId", Wanted::chain, ""},
    {proof, "contractAddress", Wanted::text, "contractAddress"},
    {proof, "userAddress", Wanted::text, "userAddress"},
    {proof, "ciphertextWithInputVerification", Wanted::text, "ciphertextWithInputVerification"},
    {proof, "extraData", Wanted::text, "extraData"},

    {public_decrypt, "ciphertextHandles", Wanted::list, "ciphertextHandles"},
    {public_decrypt, "ciphertextHandles.0", Wanted::text, "ciphertextHandles"},
    {public_decrypt, "extraData", Wanted::text, "extraData"},

    {direct, "handleContractPairs", Wanted::list, "handleContractPairs"},
    {direct, "handleContractPairs.0", Wanted::object, "handleContractPairs"},
    {direct, "handleContractPairs.2", Wanted::object, "handleContractPairs"},
    {direct, "handleContractPairs.0.handle", Wanted::text, "handle"},
    {direct, "handleContractPairs.1.contractAddress", Wanted::text, "contractAddress"},
    {direct, "requestValidity", Wanted::object, "requestValidity"},
    {direct, "requestValidity.startTimestamp", Wanted::text, "startTimestamp"},
    {direct, "requestValidity.durationDays", Wanted::text, "durationDays"},
    {direct, "contractsChainId", Wanted::chain, ""},
    {direct, "contractAddresses", Wanted::list, "contractAddresses"},
    {direct, "contractAddresses.1", Wanted::text, "contractAddresses"},
    {direct, "userAddress", Wanted::text, "userAddress"},
    {direct, "signature", Wanted::text, "signature"},
    {direct, "publicKey", Wanted::text, "publicKey"},
    {direct, "extraData", Wanted::text, "extraData"},

    {delegated, "handleContractPairs", Wanted::list, "handleContractPairs"},
    {delegated, "handleContractPairs.0", Wanted::object, "handleContractPairs"},
    {delegated, "handleContractPairs.0.handle", Wanted::text, "handle"},
    {delegated, "handleContractPairs.0.contractAddress", Wanted::text, "contractAddress"},
    {delegated, "contractsChainId", Wanted::chain, ""},
    {delegated, "contractAddresses", Wanted::list, "contractAddresses"},
    {delegated, "contractAddresses.0", Wanted::text, "contractAddresses"},
    {delegated, "delegatorAddress", Wanted::text, "delegatorAddress"},
    {delegated, "delegateAddress", Wanted::text, "delegateAddress"},
    {delegated, "startTimestamp", Wanted::text, "startTimestamp"},
    {delegated, "durationDays", Wanted::text, "durationDays"},
    {delegated, "signature", Wanted::text, "signature"},
    {delegated, "publicKey", Wanted::text, "publicKey"},
    {delegated, "extraData", Wanted::text, "extraData"},

    {unified, "attestationType", Wanted::text, "attestationType"},
    {unified, "attestedPayload", Wanted::object, "attestedPayload"},
    {unified, "attestedPayload.version", Wanted::text, "version"},
    {unified, "attestedPayload.type", Wanted::text, "type"},
    {unified, "attestedPayload.handles", Wanted::list, "handles"},
    {unified, "attestedPayload.handles.1", Wanted::object, "handles"},
    {unified, "attestedPayload.handles.0.ctHandle", Wanted::text, "ctHandle"},
    {unified, "attestedPayload.handles.0.contractAddress", Wanted::text, "contractAddress"},
    {unified, "attestedPayload.handles.1.ownerAddress", Wanted::text, "ownerAddress"},
    {unified, "attestedPayload.userAddress", Wanted::text, "userAddress"},
    {unified, "attestedPayload.allowedContracts", Wanted::list, "allowedContracts"},
    {unified, "attestedPayload.allowedContracts.0", Wanted::text, "allowedContracts"},
    {unified, "attestedPayload.requestValidity", Wanted::object, "requestValidity"},
    {unified, "attestedPayload.requestValidity.startTimestamp", Wanted::text, "startTimestamp"},
    {unified, "attestedPayload.requestValidity.durationSeconds", Wanted::text, "durationSeconds"},
    {unified, "attestedPayload.publicKey", Wanted::text, "publicKey"},
    {unified, "attestedPayload.extraData", Wanted::text, "extraData"},
    {unified, "signature", Wanted::text, "signature"},
};

bool fits(Wanted wanted, const Json& value) {
    switch (wanted) {
        case Wanted::text:
            return value.is_string();
        case Wanted::list:
            return value.is_array();
        case Wanted::object:
            return value.is_object();
        case Wanted::chain:
            return value.is_string() || value.is_number();
    }
    return false;
}

TEST_CASE("1.4: every member of every wrong type, by the name it really has") {
    const Json values[] = {nullptr, true, 5, 1.5, "text", Json::array(), Json::object()};
    Harness harness;
    for (const Member& member : members) {
        for (const Json& value : values) {
            if (fits(member.wanted, value)) continue;
            CAPTURE(member.target.path);
            CAPTURE(member.path);
            CAPTURE(value.dump());
            const Answer answer = harness.post(
                member.target.path, api_test::sample_with(member.target.file, member.path, value));
            CAPTURE(answer.body);
            CHECK(answer.status == 400);
            if (member.wanted == Wanted::chain) {
                CHECK(answer.label() == "malformed_json");
                CHECK(answer.message() == "Invalid JSON format");
                CHECK(answer.details().is_null());
                CHECK(answer.text("/error/hint") ==
                      std::string(member.path) + " must be a string or a number");
                continue;
            }
            const char* issue =
                member.wanted == Wanted::text ? "Value must be a string" : "Invalid data type";
            CHECK(answer.label() == "validation_failed");
            CHECK(answer.message() ==
                  std::string("Validation failed for 1 field in the request: ") + member.field);
            CHECK(answer.details() == Json{{{"field", member.field}, {"issue", issue}}});
        }
    }
    CHECK(harness.submitter.requests.empty());
}

TEST_CASE("1.4: a body that is no object is no request, not even a list in the right order") {
    Harness harness;
    const Json in_order{"8009", "0x" + std::string(40, 'a'), "0x" + std::string(40, 'b'), "abcd",
                        "0x00"};
    for (const std::string& path : submit_paths) {
        for (const Json& body : {in_order, Json::array(), Json(5), Json("text"), Json(nullptr)}) {
            CAPTURE(path);
            CAPTURE(body.dump());
            const Answer answer = harness.post(path, body.dump());
            CHECK(answer.status == 400);
            CHECK(answer.label() == "validation_failed");
            CHECK(answer.details() == Json{{{"field", "request"}, {"issue", "Invalid data type"}}});
        }
    }
}

TEST_CASE("1.4: members nobody knows: v2 ignores them, v3 refuses them at its two upper levels") {
    struct Row {
        Target target;
        const char* member;
        bool refused = false;
    };
    const Row rows[] = {
        {proof, "surprise"},
        {public_decrypt, "surprise"},
        {direct, "surprise"},
        {direct, "handleContractPairs.0.surprise"},
        {direct, "requestValidity.surprise"},
        {direct, "requestValidity.durationSeconds"},
        {direct, "attestationType"},
        {delegated, "surprise"},
        {delegated, "handleContractPairs.0.surprise"},
        {delegated, "requestValidity"},
        {delegated, "userAddress"},
        {unified, "surprise", true},
        {unified, "userAddress", true},
        {unified, "Signature", true},
        {unified, "attestedPayload.surprise", true},
        {unified, "attestedPayload.signature", true},
        {unified, "attestedPayload.durationSeconds", true},
        {unified, "attestedPayload.handles.0.surprise"},
        {unified, "attestedPayload.requestValidity.surprise"},
    };
    Harness harness;
    for (const Row& row : rows) {
        for (const Json& value : {Json(1), Json(nullptr), Json{{"a", {1}}}}) {
            CAPTURE(row.target.path);
            CAPTURE(row.member);
            CAPTURE(value.dump());
            const Answer answer = harness.post(
                row.target.path, api_test::sample_with(row.target.file, row.member, value));
            CAPTURE(answer.body);
            if (!row.refused) {
                CHECK(answer.status == 202);
                continue;
            }
            const std::string path = row.member;
            const std::string name = path.substr(path.rfind('.') + 1);
            CHECK(answer.status == 400);
            CHECK(answer.label() == "validation_failed");
            CHECK(answer.message() == "Validation failed for 1 field in the request: " + name);
            CHECK(answer.details() == Json{{{"field", name}, {"issue", "Unknown field"}}});
        }
    }
}

TEST_CASE("1.4: of the name of an unknown member only the beginning is told") {
    Harness harness;
    std::string name = "x";
    while (name.size() < 1'000'000) name += "\xC3\xA4";  // two bytes each
    const Answer answer = harness.post("/v3/user-decrypt", "{\"" + name + "\":1}");
    CHECK(answer.status == 400);
    CHECK(answer.details() == Json{{{"field", name.substr(0, 199)}, {"issue", "Unknown field"}}});
    CHECK(answer.body.size() < 1'000);
}

TEST_CASE("1.4: only the first problem is told, in the order of the text") {
    struct Row {
        const char* label;
        const char* path;
        std::string body;
        std::string entry;  // field and issue of the one entry; empty: malformed
    };
    const Row rows[] = {
        {"type before missing", "/v2/public-decrypt", R"({"extraData":1})",
         "extraData: Value must be a string"},
        {"first of two types", "/v2/public-decrypt", R"({"extraData":1,"ciphertextHandles":2})",
         "extraData: Value must be a string"},
        {"syntax before everything", "/v2/public-decrypt", R"({"extraData":1,"x")", ""},
        {"unknown before type", "/v3/user-decrypt", R"({"x":1,"signature":2})", "x: Unknown field"},
        {"type before unknown", "/v3/user-decrypt", R"({"signature":2,"x":1})",
         "signature: Value must be a string"},
        {"inner before outer", "/v3/user-decrypt", R"({"attestedPayload":{"type":"x"}})",
         "version: Required but missing"},
        {"missing before rules", "/v2/input-proof", R"({"contractChainId":"x"})",
         "contractAddress: Required but missing"},
    };
    Harness harness;
    for (const Row& row : rows) {
        CAPTURE(row.label);
        const Answer answer = harness.post(row.path, row.body);
        CAPTURE(answer.body);
        CHECK(answer.status == 400);
        if (row.entry.empty()) {
            CHECK(answer.label() == "malformed_json");
            continue;
        }
        const Json details = answer.details();
        REQUIRE(details.size() == 1);
        CHECK(details[0]["field"].get<std::string>() + ": " +
                  details[0]["issue"].get<std::string>() ==
              row.entry);
    }
}

TEST_CASE("hostile bodies get a 400 on every route") {
    const std::string deep(1'000'000, '[');
    std::string deep_objects;
    for (int i = 0; i < 100'000; ++i) deep_objects += "{\"a\":";
    const std::string bodies[] = {
        deep,
        deep_objects,
        std::string(1'000'000, '{'),
        std::string(1'000'000, '"'),
        std::string(1'000'000, '\\'),
        std::string(1'000'000, '\0'),
        std::string(1'000'000, '9'),
        std::string("\xFF\xFE{}", 4),
        "\xEF\xBB\xBF{}",
        "{\"extraData\":\"\xC3\x28\"}",
        "{\"extraData\":\"\\ud800\"}",
        std::string("{\"extraData\":\"\0\"}", 17),
        "{\"extraData\":1,\"extraData\":1}",
        "{\"a\":{\"b\":1,\"b\":2}}",
        "{\"a\":1e999}",
        "{\"a\":" + std::string(100'000, '1') + "}",
        "[]",
        "5",
        "\"text\"",
        "nulll",
        "{}{}",
        "{} x",
    };
    Harness harness;
    for (const std::string& body : bodies) {
        CAPTURE(body.substr(0, 40));
        for (const std::string& path : submit_paths) {
            const Answer answer = harness.post(path, body);
            CHECK(answer.status == 400);
            CHECK(answer.json["status"] == "failed");
        }
        const Answer share = harness.post(share_path, body);
        CHECK(share.status == 400);
        CHECK(share.json["status"] == "error");
    }
    CHECK(harness.submitter.requests.empty());
}

TEST_CASE("a body cut at any byte is a 400") {
    const std::pair<std::string, const char*> examples[] = {
        {"/v2/public-decrypt", "public-decrypt.json"},
        {"/v2/user-decrypt", "user-decrypt.json"},
        {"/v2/delegated-user-decrypt", "delegated-user-decrypt.json"},
        {"/v3/user-decrypt", "user-decrypt-v3.json"},
        {share_path, "vote-share.json"},
    };
    for (const auto& [path, file] : examples) {
        Harness harness;
        std::string body = api_test::sample(file);
        while (std::isspace(static_cast<unsigned char>(body.back())) != 0) body.pop_back();
        for (std::size_t size = 0; size < body.size(); ++size) {
            CAPTURE(size);
            CHECK(harness.post(path, std::string_view(body).substr(0, size)).status == 400);
        }
        CHECK(harness.submitter.requests.empty());
        CHECK(harness.post(path, body).status < 300);
    }
}

}  // namespace
