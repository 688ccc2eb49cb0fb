// How a poll tells what became of a request (relayer-api 1.8 to 1.11, 9; sdk-client-contract 1).

#include <cctype>
#include <string>

#include <doctest/doctest.h>

#include "api/harness.hpp"
#include "domain/request_id.hpp"

namespace {

using api_test::Answer;
using api_test::Harness;
using api_test::Json;
using domain::Kind;
using domain::Reason;
using domain::Status;

const std::string id = domain::to_string(domain::RequestId{0x0198'7654'3210'123, 77});

struct PollRoute {
    const char* path;
    Kind kind;
};

const PollRoute routes[] = {
    {"/v2/input-proof/", Kind::input_proof},
    {"/v2/public-decrypt/", Kind::public_decrypt},
    {"/v2/user-decrypt/", Kind::user_decrypt},
    {"/v2/delegated-user-decrypt/", Kind::delegated_user_decrypt},
    {"/v3/user-decrypt/", Kind::unified_user_decrypt},
};

std::string path_of(Kind kind) {
    for (const PollRoute& route : routes) {
        if (route.kind == kind) return route.path + id;
    }
    return {};
}

domain::Result result_of(Kind kind) {
    switch (domain::family_of(kind)) {
        case domain::Family::input_proof:
            return domain::ProofAccepted{};
        case domain::Family::public_decrypt:
            return domain::PublicDecrypted{};
        case domain::Family::user_decrypt:
            return domain::UserDecrypted{{{1, {0xA1}, {0xB2}, {}}}};
        case domain::Family::share:
            return domain::ShareRevealed{};
    }
    return {};
}

Answer poll(const engine::InquiryOutcome& outcome, const std::string& path) {
    Harness harness;
    harness.inquiry.outcome = outcome;
    return harness.get(path);
}

TEST_CASE("a request is found on the routes of its family and nowhere else") {
    for (const Kind kind : domain::kinds) {
        for (const PollRoute& route : routes) {
            CAPTURE(domain::to_string(kind));
            CAPTURE(route.path);
            const std::string path = route.path + id;
            const bool fits = domain::family_of(route.kind) == domain::family_of(kind);
            CHECK(poll(engine::Pending{kind, Status::queued, 2, 5}, path).status ==
                  (fits ? 202 : 404));
            CHECK(poll(engine::Completed{kind, result_of(kind)}, path).status ==
                  (fits ? 200 : 404));
            CHECK(poll(engine::Ended{kind, Status::timed_out, {}}, path).status ==
                  (fits ? 503 : 404));
        }
    }
}

TEST_CASE("an unfinished request tells its state and when to ask again") {
    for (const Status status :
         {Status::queued, Status::processing, Status::tx_in_flight, Status::receipt_received}) {
        const Answer answer = poll(engine::Pending{Kind::public_decrypt, status, 5, 15},
                                   path_of(Kind::public_decrypt));
        CHECK(answer.status == 202);
        CHECK(answer.header("Retry-After") == "5");
        CHECK(answer.json["status"] == "queued");
        CHECK(answer.json["state"] == domain::to_string(status));
        CHECK(answer.json["eta_seconds"] == 5);
        CHECK(answer.json["elapsed_seconds"] == 15);
        CHECK(answer.json["requestId"].get<std::string>().size() == 36);
        CHECK(answer.json.size() == 5);
    }
}

TEST_CASE("results keep their members and prefixes") {
    domain::Bytes32 handle{};
    handle.fill(0xAB);
    const domain::Bytes signature(65, 0xCD);
    const std::string signature_digits = domain::to_hex(signature);

    const Answer proof =
        poll(engine::Completed{Kind::input_proof, domain::ProofAccepted{{handle}, {signature}}},
             path_of(Kind::input_proof));
    CHECK(proof.json["status"] == "succeeded");
    CHECK(proof.json["result"] == Json{{"accepted", true},
                                       {"extraData", "0x00"},
                                       {"handles", {"0x" + domain::to_hex(handle)}},
                                       {"signatures", {"0x" + signature_digits}}});
    CHECK(proof.header("Retry-After") == "");

    const Answer value = poll(
        engine::Completed{Kind::public_decrypt, domain::PublicDecrypted{{0x2A}, {signature}, {}}},
        path_of(Kind::public_decrypt));
    CHECK(value.json["result"] ==
          Json{{"decryptedValue", "2a"}, {"signatures", {signature_digits}}, {"extraData", "0x"}});

    const Answer shares = poll(
        engine::Completed{Kind::user_decrypt, domain::UserDecrypted{{{1, {0xA1}, signature, {0x00}},
                                                                     {2, {0xB2}, signature, {}}}}},
        path_of(Kind::user_decrypt));
    const Json entries = shares.json["result"]["result"];
    REQUIRE(entries.size() == 2);
    CHECK(entries[0] ==
          Json{{"payload", "a1"}, {"signature", signature_digits}, {"extraData", "0x00"}});
    CHECK(entries[1]["payload"] == "b2");
}

TEST_CASE("a rejected proof is a good answer without lists") {
    const Answer answer = poll(
        engine::Ended{
            Kind::input_proof, Status::failure, {Reason::proof_rejected, "Proof Rejected", {}}},
        path_of(Kind::input_proof));
    CHECK(answer.status == 200);
    CHECK(answer.json["status"] == "succeeded");
    CHECK(answer.json["result"] == Json{{"accepted", false}, {"extraData", "0x00"}});
}

TEST_CASE("bad ends are told by reason and selector") {
    struct Row {
        Kind kind;
        Status status;
        domain::Failure failure;
        int http;
        std::string label;
        std::string message;
    };
    const std::string revert = "Transaction simulation failed: Execution reverted: 0x01020304";
    const std::string fixed = "Validation failed for 1 field(s)";
    const Row rows[] = {
        {Kind::public_decrypt,
         Status::timed_out,
         {Reason::readiness_timed_out, "not ready", {}},
         503,
         "readiness_check_timed_out",
         "not ready"},
        {Kind::input_proof,
         Status::timed_out,
         {Reason::readiness_timed_out, "odd", {}},
         503,
         "response_timed_out",
         "odd"},
        {Kind::user_decrypt,
         Status::timed_out,
         {Reason::response_timed_out, "silent", {}},
         503,
         "response_timed_out",
         "silent"},
        {Kind::user_decrypt,
         Status::timed_out,
         {Reason::response_timed_out, "", {}},
         503,
         "response_timed_out",
         "Request timed out (reason not available)"},
        {Kind::public_decrypt,
         Status::failure,
         {Reason::host_acl_refused, "no", {}},
         400,
         "not_allowed_on_host_acl",
         "no"},
        {Kind::user_decrypt,
         Status::failure,
         {Reason::host_acl_failed, "rpc", {}},
         500,
         "host_acl_failed",
         "rpc"},
        {Kind::input_proof,
         Status::failure,
         {Reason::host_acl_refused, "odd", {}},
         500,
         "internal_server_error",
         "odd"},
        {Kind::input_proof,
         Status::failure,
         {Reason::reverted, revert, 0xd93c0665},
         503,
         "protocol_paused",
         revert},
        {Kind::input_proof,
         Status::failure,
         {Reason::reverted, revert, 0xe450d38c},
         503,
         "insufficient_balance",
         revert},
        {Kind::public_decrypt,
         Status::failure,
         {Reason::reverted, revert, 0xfb8f41b2},
         503,
         "insufficient_allowance",
         revert},
        {Kind::user_decrypt,
         Status::failure,
         {Reason::reverted, revert, 0x2a873d27},
         400,
         "validation_failed",
         fixed},
        {Kind::user_decrypt,
         Status::failure,
         {Reason::reverted, revert, 0xf645eedf},
         400,
         "validation_failed",
         fixed},
        {Kind::input_proof,
         Status::failure,
         {Reason::reverted, revert, 0xfce698f7},
         400,
         "validation_failed",
         fixed},
        {Kind::user_decrypt,
         Status::failure,
         {Reason::reverted, revert, 0xd78bce0c},
         400,
         "validation_failed",
         fixed},
        {Kind::user_decrypt,
         Status::failure,
         {Reason::reverted, revert, 0x01020304},
         500,
         "internal_server_error",
         revert},
        {Kind::user_decrypt,
         Status::failure,
         {Reason::reverted, "0xd93c0665", {}},
         500,
         "internal_server_error",
         "0xd93c0665"},
        {Kind::public_decrypt,
         Status::failure,
         {Reason::send_failed, "", {}},
         500,
         "internal_server_error",
         "Unknown error"},
        {Kind::public_decrypt,
         Status::failure,
         {Reason::send_failed, "bad \xFF byte", {}},
         500,
         "internal_server_error",
         "bad \xEF\xBF\xBD byte"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        CAPTURE(row.failure.text);
        const Answer answer =
            poll(engine::Ended{row.kind, row.status, row.failure}, path_of(row.kind));
        CHECK(answer.status == row.http);
        CHECK(answer.json["status"] == "failed");
        CHECK(answer.label() == row.label);
        CHECK(answer.message() == row.message);
        CHECK(answer.json["error"].contains("details") == (row.label == "validation_failed"));
        CHECK(answer.header("Retry-After") == "");
    }
}

TEST_CASE("results that can not be served are internal errors") {
    struct Row {
        engine::InquiryOutcome outcome;
        const char* message;
    };
    const Row rows[] = {
        {engine::Unreadable{"disk I/O error at sqlite://secret@disk"}, "Database error"},
        {engine::Completed{Kind::input_proof, {}},
         "Internal error: completed request missing response data"},
        {engine::Completed{Kind::input_proof, domain::UserDecrypted{}},
         "Failed to deserialize response data"},
    };
    for (const Row& row : rows) {
        const Answer answer = poll(row.outcome, path_of(Kind::input_proof));
        CHECK(answer.status == 500);
        CHECK(answer.label() == "internal_server_error");
        CHECK(answer.message() == row.message);
    }
}

TEST_CASE("a job id may be spelt in every way of a UUID") {
    Harness harness;
    harness.inquiry.outcome = engine::Pending{};
    std::string upper = id;
    for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    std::string bare = id;
    std::erase(bare, '-');
    for (const std::string& spelling :
         {id, upper, bare, "{" + id + "}", "%7B" + id + "%7d", "urn:uuid:" + id}) {
        CAPTURE(spelling);
        CHECK(harness.get("/v2/input-proof/" + spelling).status == 202);
    }
    for (const std::string& wrong : {std::string("not-a-uuid"), id + "0", std::string("%00"),
                                     std::string("%"), std::string(5'000, 'a')}) {
        CAPTURE(wrong.substr(0, 40));
        const Answer answer = harness.get("/v2/input-proof/" + wrong);
        CHECK(answer.status == 400);
        CHECK(answer.label() == "request_error");
        CHECK(answer.message().find("job_id") != std::string::npos);
    }
    CHECK(harness.get("/v2/input-proof/00000000-0000-4000-8000-000000000000").status == 404);
}

}  // namespace
