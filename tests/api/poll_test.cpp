// How a poll tells what became of a request (relayer-api 1.8 to 1.11, 9; sdk-client-contract 1).

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "api/harness.hpp"
#include "domain/request_id.hpp"
#include "support/requests.hpp"

namespace {

using api_test::Answer;
using api_test::Harness;
using api_test::job_id;
using api_test::Json;
using domain::Kind;
using domain::Reason;
using domain::Status;

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
        if (route.kind == kind) return route.path + job_id;
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

// A poll whose client has sent all it will ever send, and may still read.
class HalfClosed : public net::HttpExchange::Source {
public:
    HalfClosed(net::HttpApplication& application, std::string path) : path_(std::move(path)) {
        request_.method = "GET";
        request_.path = path_;
        request_.query = "wait=20s";
        ticket_ = application.before_body(request_).ticket;
    }

    [[nodiscard]] const net::HttpRequest& request() const override { return request_; }
    [[nodiscard]] const std::shared_ptr<const void>& ticket() const override { return ticket_; }
    void answer(std::optional<net::HttpResponse> response) override {
        answered = std::move(response);
    }
    void when_gone(std::function<void()> told) override { told(); }

    std::optional<net::HttpResponse> answered;

private:
    const std::string path_;
    net::HttpRequest request_;
    std::shared_ptr<const void> ticket_;
};

Answer poll(const engine::FindOutcome& outcome, const std::string& path) {
    Harness harness;
    harness.request_reader.outcome = outcome;
    return harness.get(path);
}

TEST_CASE("a poll that was not waited with does not say that it was") {
    Harness harness;
    harness.request_reader.outcome = engine::Pending{Kind::input_proof, Status::processing, 3, 1};
    const auto poll = std::make_shared<HalfClosed>(harness.app, path_of(Kind::input_proof));
    harness.app.serve(net::HttpExchange(poll));
    static_cast<void>(harness.long_polls.turn());
    REQUIRE(poll->answered);
    CHECK(poll->answered->status == 202);
    for (const auto& [name, value] : poll->answered->headers) CHECK(name != "Preference-Applied");
}

TEST_CASE("a request is found on the routes of its family and nowhere else") {
    for (const Kind kind : domain::kinds) {
        for (const PollRoute& route : routes) {
            CAPTURE(domain::to_string(kind));
            CAPTURE(route.path);
            const std::string path = route.path + job_id;
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

constexpr Kind decrypts[]{Kind::public_decrypt, Kind::user_decrypt, Kind::delegated_user_decrypt,
                          Kind::unified_user_decrypt};

void check_refused(const Answer& answer, int status, const std::string& label,
                   const std::string& message) {
    CAPTURE(answer.body);
    CHECK(answer.status == status);
    CHECK(answer.text("/status") == "failed");
    CHECK(answer.label() == label);
    CHECK(answer.message() == message);
    CHECK(answer.details().is_array() == (label == "validation_failed"));
    CHECK_FALSE(answer.has("Retry-After"));
}

TEST_CASE("9.1: what timed out, by what it waited for") {
    const std::string never_ready = "Ciphertext not ready for decryption on the gateway chain";
    const std::string silent = "Gateway chain did not respond within the expected timeframe";
    const std::string nothing = "Request timed out (reason not available)";
    for (const Kind kind : support::relayer_kinds) {
        CAPTURE(domain::to_string(kind));
        const auto timed_out = [&](Reason reason, const std::string& text) {
            return poll(engine::Ended{kind, Status::timed_out, {reason, text, {}}}, path_of(kind));
        };
        // Only decrypts wait to be ready.
        const std::string ready_label =
            kind == Kind::input_proof ? "response_timed_out" : "readiness_check_timed_out";
        check_refused(timed_out(Reason::readiness_timed_out, never_ready), 503, ready_label,
                      never_ready);
        check_refused(timed_out(Reason::response_timed_out, silent), 503, "response_timed_out",
                      silent);
        check_refused(timed_out(Reason::response_timed_out, ""), 503, "response_timed_out",
                      nothing);
    }
}

TEST_CASE("9.3: failures of decrypts by the host ACL go before the selector") {
    const std::string refused =
        "Not allowed on host ACL: ACL check failed for 1 handle(s): handle=0xf9 "
        "check=isAllowedForDecryption";
    const std::string failed = "Host ACL check failed: Host chain 8009 call failed: timeout";
    for (const std::optional<std::uint32_t> selector :
         {std::optional<std::uint32_t>(), std::optional<std::uint32_t>(0xd93c0665)}) {
        for (const Kind kind : decrypts) {
            CAPTURE(domain::to_string(kind));
            const auto ended = [&](Reason reason, const std::string& text) {
                return poll(engine::Ended{kind, Status::failure, {reason, text, selector}},
                            path_of(kind));
            };
            check_refused(ended(Reason::host_acl_refused, refused), 400, "not_allowed_on_host_acl",
                          refused);
            check_refused(ended(Reason::host_acl_failed, failed), 500, "host_acl_failed", failed);
        }
    }
    // An input proof has no ACL: only the revert table counts.
    for (const Reason reason : {Reason::host_acl_refused, Reason::host_acl_failed}) {
        check_refused(poll(engine::Ended{Kind::input_proof, Status::failure, {reason, "odd", {}}},
                           path_of(Kind::input_proof)),
                      500, "internal_server_error", "odd");
    }
}

TEST_CASE("9.3: reverts by their selector, for every kind") {
    struct Row {
        const char* error;
        std::optional<std::uint32_t> selector;
        int http;
        const char* label;
    };
    const Row rows[] = {
        {"EnforcedPause()", 0xd93c0665, 503, "protocol_paused"},
        {"ERC-20 balance", 0xe450d38c, 503, "insufficient_balance"},
        {"ERC-20 allowance", 0xfb8f41b2, 503, "insufficient_allowance"},
        {"InvalidUserSignature(bytes)", 0x2a873d27, 400, "validation_failed"},
        {"ECDSAInvalidSignature()", 0xf645eedf, 400, "validation_failed"},
        {"ECDSAInvalidSignatureLength(uint256)", 0xfce698f7, 400, "validation_failed"},
        {"ECDSAInvalidSignatureS(bytes32)", 0xd78bce0c, 400, "validation_failed"},
        {"unknown", 0x01020304, 500, "internal_server_error"},
        {"one beside EnforcedPause()", 0xd93c0666, 500, "internal_server_error"},
        {"zero", 0, 500, "internal_server_error"},
        {"none", {}, 500, "internal_server_error"},
    };
    // The text is never searched: an address in it may look like a selector (9.3 [H]).
    const std::string text = "Transaction simulation failed: Execution reverted: 0xd93c0665";
    for (const Kind kind : support::relayer_kinds) {
        for (const Row& row : rows) {
            CAPTURE(domain::to_string(kind));
            CAPTURE(row.error);
            const Answer answer =
                poll(engine::Ended{kind, Status::failure, {Reason::reverted, text, row.selector}},
                     path_of(kind));
            const bool fixed = row.http == 400;
            check_refused(answer, row.http, row.label,
                          fixed ? "Validation failed for 1 field(s)" : text);
            if (fixed) {
                CHECK(answer.details() ==
                      Json{{{"field", "signature"}, {"issue", "Signature is invalid"}}});
            }
        }
    }
}

TEST_CASE("9.3: every other reason is an internal error in its own words, or in none") {
    for (const Kind kind : support::relayer_kinds) {
        for (const Reason reason :
             {Reason::readiness_timed_out, Reason::response_timed_out, Reason::readiness_failed,
              Reason::reverted, Reason::send_failed, Reason::attempts_used_up, Reason::round_over,
              Reason::recovered_too_often, Reason::undecodable, Reason::internal_error}) {
            CAPTURE(domain::to_string(kind));
            CAPTURE(domain::to_string(reason));
            struct Row {
                const char* text;
                const char* message;
            };
            for (const Row& row :
                 {Row{"Processing Failed: words", "Processing Failed: words"},
                  Row{"", "Unknown error"}, Row{"bad \xFF byte", "bad \xEF\xBF\xBD byte"}}) {
                check_refused(poll(engine::Ended{kind, Status::failure, {reason, row.text, {}}},
                                   path_of(kind)),
                              500, "internal_server_error", row.message);
            }
        }
    }
}

TEST_CASE("9.4: results that can not be served are internal errors") {
    struct Row {
        const char* label;
        Kind kind;
        engine::FindOutcome outcome;
        const char* message;
    };
    std::vector<Row> rows;
    for (const Kind kind : support::relayer_kinds) {
        rows.push_back({"storage", kind, engine::Unreadable{"disk I/O error at db://secret@disk"},
                        "Database error"});
        rows.push_back({"nothing stored", kind, engine::Completed{kind, {}},
                        "Internal error: completed request missing response data"});
        const Kind other = kind == Kind::public_decrypt ? Kind::input_proof : Kind::public_decrypt;
        rows.push_back({"of another kind", kind, engine::Completed{kind, result_of(other)},
                        "Failed to deserialize response data"});
        rows.push_back({"a vote share", kind, engine::Completed{kind, domain::ShareRevealed{}},
                        "Failed to deserialize response data"});
        if (domain::family_of(kind) == domain::Family::user_decrypt) {
            rows.push_back({"no shares", kind, engine::Completed{kind, domain::UserDecrypted{}},
                            "Internal error: completed request has insufficient shares"});
        }
    }
    for (const Row& row : rows) {
        CAPTURE(domain::to_string(row.kind));
        CAPTURE(row.label);
        check_refused(poll(row.outcome, path_of(row.kind)), 500, "internal_server_error",
                      row.message);
    }
}

TEST_CASE(
    "polls are never refused: 500 of one job_id, and typed answers for the rest (report 52)") {
    Harness harness;
    harness.request_reader.outcome = engine::Pending{Kind::input_proof, Status::processing, 3, 1};
    const std::string path = path_of(Kind::input_proof);
    for (int i = 0; i < 500; ++i) {
        const Answer answer = harness.get(path);
        CHECK(answer.status == 202);
        CHECK(answer.header("Retry-After") == "3");
    }
    harness.request_reader.outcome = engine::NotFound{};
    CHECK(harness.get(path).label() == "not_found");
    CHECK(harness.get("/v2/input-proof/not-a-uuid").label() == "request_error");
    harness.request_reader.outcome = engine::Unreadable{"disk"};
    CHECK(harness.get(path).label() == "internal_server_error");
}

}  // namespace
