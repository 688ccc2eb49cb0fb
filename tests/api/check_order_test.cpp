// Which failure a request gets that has several (relayer-api 1.3).

#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "api/harness.hpp"
#include "api/samples.hpp"

namespace {

using api_test::Answer;
using api_test::Call;
using api_test::Harness;
using api_test::Json;

// A body with everything wrong with it; one step after the other is put right.
struct Patient {
    std::string method = "POST";
    std::string path;
    std::string content_type = "text/plain";
    Json body;
    std::size_t padding = 2'097'152;
    std::string tail = "!";
};

struct Cure {
    const char* step;
    int status;
    const char* label;    // empty: no envelope
    const char* mention;  // must stand in the answer
    std::function<void(Patient&, Harness&)> apply;
};

Answer ask(Harness& harness, const Patient& patient) {
    std::string text = patient.body.dump() + patient.tail;
    if (patient.padding > text.size()) text.resize(patient.padding + 1, ' ');
    return harness.send(
        {patient.method,
         patient.path,
         text,
         {{"Origin", "https://dapp.example"}, {"Content-Type", patient.content_type}}});
}

void check_cures(Harness& harness, Patient patient, const std::vector<Cure>& cures) {
    for (const Cure& cure : cures) {
        CAPTURE(cure.step);
        const Answer answer = ask(harness, patient);
        CAPTURE(answer.body);
        CHECK(answer.status == cure.status);
        if (*cure.label != '\0') CHECK(answer.label() == cure.label);
        CHECK(answer.body.find(cure.mention) != std::string::npos);
        cure.apply(patient, harness);
    }
    CHECK(ask(harness, patient).status == 202);
}

// Handled in the same way before a body is looked at.
std::vector<Cure> cures_of_the_head() {
    return {
        {"unknown path", 404, "", "",
         [](Patient& patient, Harness&) { patient.path.erase(patient.path.size() - 1); }},
        {"wrong method", 405, "", "", [](Patient& patient, Harness&) { patient.method = "POST"; }},
        {"content type", 400, "request_error", "Content-Type",
         [](Patient& patient, Harness&) { patient.content_type = "application/json"; }},
        {"2: too large", 400, "request_error", "Failed to read request body",
         [](Patient& patient, Harness&) { patient.padding = 0; }},
        {"3: syntax", 400, "malformed_json", "Invalid JSON format",
         [](Patient& patient, Harness&) { patient.tail.clear(); }},
    };
}

TEST_CASE("1.3: each step of a v3 user decrypt, the earliest failure wins") {
    Patient patient{.method = "PUT",
                    .path = "/v3/user-decryptx",
                    .body = Json::parse(api_test::sample("user-decrypt-v3.json"))};
    const Json good = patient.body;
    std::string foreign = good["attestedPayload"]["handles"][0]["ctHandle"];
    foreign.replace(2 + 44, 16, "000000000001869f");
    patient.body["surprise"] = 1;
    patient.body["attestedPayload"]["version"] = "1.0";
    patient.body["attestedPayload"]["handles"][0]["ctHandle"] = foreign;
    patient.body["signature"] = "0x1234";

    Harness harness;
    harness.submitter.forced = engine::QueueFull{4};
    std::vector<Cure> cures = cures_of_the_head();
    cures.push_back({"3: unknown member", 400, "validation_failed", "Unknown field",
                     [](Patient& p, Harness&) { p.body.erase("surprise"); }});
    cures.push_back({"4: a rule", 400, "validation_failed", "attestedPayload.version",
                     [](Patient& p, Harness&) { p.body["attestedPayload"]["version"] = "2.0"; }});
    cures.push_back(
        {"6: host chain", 400, "host_chain_id_not_supported", "99999", [&](Patient& p, Harness& h) {
             CHECK(h.contracts.asked_chains.empty());
             p.body["attestedPayload"]["handles"] = good["attestedPayload"]["handles"];
             h.contracts.answer = engine::Unreachable{"down"};
         }});
    cures.push_back(
        {"7: signature, node down", 500, "internal_server_error", "Internal",
         [](Patient&, Harness& h) { h.contracts.answer = engine::SignatureInvalid{}; }});
    cures.push_back({"7: signature", 400, "validation_failed", "Signature is invalid",
                     [&](Patient& p, Harness& h) {
                         CHECK(h.submitter.requests.empty());
                         p.body["signature"] = good["signature"];
                     }});
    cures.push_back({"9: gates", 429, "rate_limited", "too many requests",
                     [](Patient&, Harness& h) { h.submitter.forced.reset(); }});
    check_cures(harness, patient, cures);
    CHECK(harness.submitter.requests.size() == 2);
}

TEST_CASE("1.3: each step of the v2 requests") {
    struct Row {
        const char* path;
        const char* file;
        const char* removed;
        const char* spoilt;      // by a rule
        const char* chain_list;  // where handles stand; empty: none
    };
    for (const Row& row :
         {Row{"/v2/input-proof", "input-proof-1-value.json", "extraData", "userAddress", ""},
          Row{"/v2/public-decrypt", "public-decrypt.json", "extraData", "", "ciphertextHandles"},
          Row{"/v2/user-decrypt", "user-decrypt.json", "userAddress", "signature",
              "handleContractPairs"},
          Row{"/v2/delegated-user-decrypt", "delegated-user-decrypt.json", "publicKey",
              "delegateAddress", "handleContractPairs"}}) {
        CAPTURE(row.path);
        Patient patient{.method = "PUT",
                        .path = std::string(row.path) + "x",
                        .body = Json::parse(api_test::sample(row.file))};
        const Json good = patient.body;
        const std::string removed = row.removed;
        const std::string spoilt = row.spoilt;
        const std::string list = row.chain_list;
        if (list == "ciphertextHandles") patient.body[list].push_back("0xab");
        if (list == "handleContractPairs") {
            std::string handle = good[list][0]["handle"];
            patient.body[list][0]["handle"] = handle.replace(2 + 44, 16, "000000000001869f");
        }
        if (!spoilt.empty()) patient.body[spoilt] = "12";
        patient.body.erase(removed);

        Harness harness;
        harness.submitter.forced = engine::QueueFull{4};
        std::vector<Cure> cures = cures_of_the_head();
        cures.push_back({"3: missing", 400, "missing_fields", row.removed,
                         [&](Patient& p, Harness&) { p.body[removed] = good[removed]; }});
        if (!spoilt.empty()) {
            cures.push_back({"4: a rule", 400, "validation_failed", row.spoilt,
                             [&](Patient& p, Harness&) { p.body[spoilt] = good[spoilt]; }});
        } else {
            cures.push_back({"4: a rule", 400, "validation_failed", "Must be 64 characters long",
                             [&](Patient& p, Harness&) {
                                 std::string handle = good[list][0];
                                 p.body[list][1] = handle.replace(2 + 44, 16, "000000000001869f");
                             }});
        }
        if (!list.empty()) {
            cures.push_back({"6: host chain", 400, "host_chain_id_not_supported", "99999",
                             [&](Patient& p, Harness& h) {
                                 CHECK(h.submitter.requests.empty());
                                 p.body[list] = good[list];
                             }});
        }
        cures.push_back({"9: gates", 429, "rate_limited", "too many requests",
                         [](Patient&, Harness& h) { h.submitter.forced.reset(); }});
        check_cures(harness, patient, cures);
    }
}

TEST_CASE("1.3: chain and signature are looked at for a duplicate too") {
    Harness harness;
    harness.contracts.answer = engine::SignatureValid{};
    const std::string body = api_test::sample_with("user-decrypt-v3.json", "signature", "0xabcd");
    REQUIRE(harness.post("/v3/user-decrypt", body).status == 202);
    harness.contracts.answer = engine::SignatureInvalid{};
    CHECK(harness.post("/v3/user-decrypt", body).status == 400);
    harness.contracts.answer = engine::Unreachable{"down"};
    CHECK(harness.post("/v3/user-decrypt", body).status == 500);
    CHECK(harness.submitter.requests.size() == 1);
}

}  // namespace
