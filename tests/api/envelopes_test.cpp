// What every answer of the relayer API looks like (relayer-api 1.2).

#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "api/harness.hpp"
#include "api/samples.hpp"
#include "domain/request_id.hpp"

namespace {

using api_test::Answer;
using api_test::Harness;
using api_test::Json;
using api_test::proof_path;
using domain::Kind;
using domain::Reason;
using domain::Status;

const std::string poll_path = "/v2/public-decrypt/" + domain::to_string(domain::RequestId{1, 1});

using Names = std::set<std::string>;

Names names_of(const Json& object) {
    Names names;
    for (const auto& [name, value] : object.items()) names.insert(name);
    return names;
}

bool has_null(const Json& value) {
    if (value.is_null()) return true;
    for (const Json& inner : value) {
        if (inner.is_structured() || inner.is_null()) {
            if (has_null(inner)) return true;
        }
    }
    return false;
}

struct Row {
    const char* label;
    int status;
    const char* word;
    Names members;
    Names inner;  // of `result` or `error`
    bool waits = false;
};

void check_envelope(const Answer& answer, const Row& row) {
    CAPTURE(row.label);
    CAPTURE(answer.body);
    CHECK(answer.status == row.status);
    CHECK(answer.json["status"] == row.word);
    CHECK(names_of(answer.json) == row.members);
    for (const char* name : {"result", "error"}) {
        if (answer.json.contains(name)) CHECK(names_of(answer.json[name]) == row.inner);
    }
    CHECK_FALSE(has_null(answer.json));
    CHECK(answer.has("Retry-After") == row.waits);
    if (answer.json.contains("eta_seconds")) {
        CHECK(std::to_string(answer.json["eta_seconds"].get<int>()) ==
              answer.header("Retry-After"));
    }
}

TEST_CASE("1.2: the answers to a POST") {
    Harness harness;
    const std::string body = api_test::sample("input-proof-1-value.json");
    const Names failed{"status", "requestId", "error"};
    const Names plain{"label", "message"};
    const Names detailed{"label", "message", "details"};

    const Row accepted{"accepted", 202,
                       "queued",   {"status", "requestId", "result", "job_id", "eta_seconds"},
                       {"jobId"},  true};
    for (const char* label : {"new", "duplicate"}) {
        CAPTURE(label);
        const Answer answer = harness.post(proof_path, body);
        check_envelope(answer, accepted);
        CHECK(answer.json["result"]["jobId"] == answer.json["job_id"]);
    }
    check_envelope(harness.post(proof_path, "{"),
                   {"no JSON", 400, "failed", failed, {"label", "message", "hint"}});
    check_envelope(harness.post(proof_path, "{}"), {"missing", 400, "failed", failed, detailed});
    check_envelope(harness.post(proof_path, api_test::sample_with("input-proof-1-value.json",
                                                                  "extraData", "0x01")),
                   {"invalid", 400, "failed", failed, detailed});
    harness.submitter.forced = engine::QueueFull{4};
    check_envelope(harness.post(proof_path, body), {"bounced", 429, "failed", failed, plain, true});
    harness.submitter.forced = engine::Unavailable{"disk full", 5};
    check_envelope(harness.post(proof_path, body),
                   {"not stored", 503, "failed", failed, plain, true});
    harness.submitter.defect = "bug";
    check_envelope(harness.post(proof_path, body), {"defect", 500, "failed", failed, plain});
}

TEST_CASE("1.2: the answers to a GET") {
    Harness harness;
    const Names failed{"status", "requestId", "error"};
    const Names plain{"label", "message"};
    const auto poll = [&](engine::FindOutcome outcome) {
        harness.request_reader.outcome = std::move(outcome);
        return harness.get(poll_path);
    };
    const auto ended = [&](Status status, domain::Failure failure) {
        return poll(engine::Ended{Kind::public_decrypt, status, std::move(failure)});
    };
    for (const Status status :
         {Status::queued, Status::processing, Status::tx_in_flight, Status::receipt_received}) {
        const Answer answer = poll(engine::Pending{Kind::public_decrypt, status, 5, 15});
        check_envelope(answer, {"not finished",
                                202,
                                "queued",
                                {"status", "requestId", "state", "eta_seconds", "elapsed_seconds"},
                                {},
                                true});
        CHECK(answer.json["state"] == domain::to_string(status));
        CHECK(answer.json["eta_seconds"] == 5);
        CHECK(answer.json["elapsed_seconds"] == 15);
    }
    check_envelope(
        poll(engine::Completed{Kind::public_decrypt, domain::PublicDecrypted{{1}, {}, {0}}}),
        {"well",
         200,
         "succeeded",
         {"status", "requestId", "result"},
         {"decryptedValue", "signatures", "extraData"}});
    check_envelope(poll(engine::NotFound{}), {"not found", 404, "failed", failed, plain});
    check_envelope(ended(Status::failure, {Reason::host_acl_refused, "no", {}}),
                   {"badly", 400, "failed", failed, plain});
    check_envelope(ended(Status::failure, {Reason::reverted, "no", 0x2a873d27}),
                   {"signature", 400, "failed", failed, {"label", "message", "details"}});
    check_envelope(ended(Status::failure, {Reason::internal_error, "no", {}}),
                   {"badly", 500, "failed", failed, plain});
    check_envelope(ended(Status::timed_out, {Reason::response_timed_out, "no", {}}),
                   {"too late", 503, "failed", failed, plain});
    check_envelope(poll(engine::Unreadable{"disk"}), {"storage", 500, "failed", failed, plain});
}

TEST_CASE("1.2: every call has an id of its own, a random UUID version 4") {
    Harness harness;
    std::set<std::string> seen;
    for (int i = 0; i < 100; ++i) {
        const std::string id = harness.post(proof_path, "{").json["requestId"];
        CHECK(id.size() == 36);
        CHECK(id[14] == '4');
        CHECK(std::string("89ab").find(id[19]) != std::string::npos);
        CHECK(seen.insert(id).second);
    }
}

}  // namespace
