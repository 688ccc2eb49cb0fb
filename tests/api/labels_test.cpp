// The catalogue of error labels (relayer-api 1.14, sdk-client-contract 3).

#include <functional>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "api/harness.hpp"
#include "api/samples.hpp"
#include "domain/request_id.hpp"

namespace {

using api_test::Answer;
using api_test::Harness;
using api_test::job_id;
using api_test::Json;
using domain::Kind;
using domain::Reason;
using domain::Status;

Answer ended(Harness& harness, Status status, domain::Failure failure) {
    harness.request_reader.outcome = engine::Ended{Kind::user_decrypt, status, std::move(failure)};
    return harness.get("/v2/user-decrypt/" + job_id);
}

Answer reverted(Harness& harness, std::uint32_t selector) {
    return ended(harness, Status::failure, {Reason::reverted, "reverted", selector});
}

Answer post_with(Harness& harness, const char* member, const Json& value) {
    return harness.post("/v2/public-decrypt",
                        api_test::sample_with("public-decrypt.json", member, value));
}

struct LabelRow {
    const char* label;
    int status;
    bool details;
    std::function<Answer(Harness&)> provoke;
};

const LabelRow rows[] = {
    {"malformed_json", 400, false, [](Harness& h) { return h.post("/v2/user-decrypt", "{"); }},
    {"missing_fields", 400, true, [](Harness& h) { return h.post("/v2/user-decrypt", "{}"); }},
    {"validation_failed", 400, true, [](Harness& h) { return post_with(h, "extraData", ""); }},
    {"validation_failed", 400, true, [](Harness& h) { return reverted(h, 0x2a873d27); }},
    {"request_error", 400, false,
     [](Harness& h) { return h.post("/v2/user-decrypt", std::string(2'097'153, ' ')); }},
    {"host_chain_id_not_supported", 400, false,
     [](Harness& h) { return post_with(h, "ciphertextHandles", {"0x" + std::string(64, '1')}); }},
    {"not_allowed_on_host_acl", 400, false,
     [](Harness& h) {
         return ended(h, Status::failure, {Reason::host_acl_refused, "no", {}});
     }},
    {"not_found", 404, false, [](Harness& h) { return h.get("/v2/user-decrypt/" + job_id); }},
    {"rate_limited", 429, false,
     [](Harness& h) {
         h.submitter.forced = engine::QueueFull{4};
         return h.post("/v2/public-decrypt", api_test::sample("public-decrypt.json"));
     }},
    {"internal_server_error", 500, false,
     [](Harness& h) {
         h.submitter.defect = "bug";
         return h.post("/v2/public-decrypt", api_test::sample("public-decrypt.json"));
     }},
    {"internal_server_error", 500, false,
     [](Harness& h) {
         return ended(h, Status::failure, {Reason::send_failed, "no", {}});
     }},
    {"host_acl_failed", 500, false,
     [](Harness& h) {
         return ended(h, Status::failure, {Reason::host_acl_failed, "rpc", {}});
     }},
    {"readiness_check_timed_out", 503, false,
     [](Harness& h) {
         return ended(h, Status::timed_out, {Reason::readiness_timed_out, "never", {}});
     }},
    {"response_timed_out", 503, false,
     [](Harness& h) {
         return ended(h, Status::timed_out, {Reason::response_timed_out, "never", {}});
     }},
    {"protocol_paused", 503, false, [](Harness& h) { return reverted(h, 0xd93c0665); }},
    {"insufficient_balance", 503, false, [](Harness& h) { return reverted(h, 0xe450d38c); }},
    {"insufficient_allowance", 503, false, [](Harness& h) { return reverted(h, 0xfb8f41b2); }},
    // Ours: nothing was stored. The only label the SDK takes with 503 on a POST that says so.
    {"gateway_not_reachable", 503, false,
     [](Harness& h) {
         h.submitter.forced = engine::Unavailable{"disk full", 5};
         return h.post("/v2/public-decrypt", api_test::sample("public-decrypt.json"));
     }},
};

TEST_CASE("1.14: each of the sixteen labels comes with its status, and details where they belong") {
    std::set<std::string> labels;
    for (const LabelRow& row : rows) {
        CAPTURE(row.label);
        Harness harness;
        const Answer answer = row.provoke(harness);
        CAPTURE(answer.body);
        CHECK(answer.status == row.status);
        CHECK(answer.json["status"] == "failed");
        CHECK(answer.label() == row.label);
        CHECK_FALSE(answer.message().empty());
        CHECK(answer.details().is_array() == row.details);
        labels.insert(row.label);
    }
    CHECK(labels.size() == 16);
}

TEST_CASE("sdk-client-contract 3: every label belongs to its status for the SDK, but two we keep") {
    const std::set<std::string> known{"400 malformed_json",
                                      "400 request_error",
                                      "400 not_ready_for_decryption",
                                      "400 not_allowed_on_host_acl",
                                      "400 missing_fields",
                                      "400 validation_failed",
                                      "404 not_found",
                                      "429 rate_limited",
                                      "429 protocol_overload",
                                      "500 internal_server_error",
                                      "503 protocol_paused",
                                      "503 insufficient_balance",
                                      "503 insufficient_allowance",
                                      "503 gateway_not_reachable",
                                      "503 readiness_check_timed_out",
                                      "503 response_timed_out"};
    // Kept for other clients (sdk-client-contract 3).
    const std::set<std::string> ours{"400 host_chain_id_not_supported", "500 host_acl_failed"};
    for (const LabelRow& row : rows) {
        Harness harness;
        const Answer answer = row.provoke(harness);
        const std::string pair = std::to_string(answer.status) + " " + answer.label();
        CAPTURE(pair);
        CHECK((known.contains(pair) || ours.contains(pair)));
        for (Json entry : answer.details().is_array() ? answer.details() : Json::array()) {
            CHECK(entry["field"].is_string());
            CHECK(entry["issue"].is_string());
        }
    }
}

}  // namespace
