// The statuses the OpenAPI document has for a route are those the code sends, provoked one by one.

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "api/openapi.hpp"
#include "api/samples.hpp"

namespace {

using api::HttpProblem;
using api_test::Answer;
using api_test::Call;
using api_test::Harness;
using namespace openapi;
using Statuses = Names;

Statuses documented(const api::Route& route) {
    Statuses statuses;
    for (const auto& [status, response] : operation_of(route).at("responses").items()) {
        statuses.insert(status);
    }
    return statuses;
}

constexpr std::array problems{HttpProblem::malformed_head,
                              HttpProblem::head_too_large,
                              HttpProblem::headers_too_many,
                              HttpProblem::version_unsupported,
                              HttpProblem::expectation_unsupported,
                              HttpProblem::transfer_encoding,
                              HttpProblem::content_encoding,
                              HttpProblem::body_too_large,
                              HttpProblem::truncated,
                              HttpProblem::deadline,
                              HttpProblem::overloaded};

// What the server around the routes answers, and what becomes of an exception.
Statuses surroundings(const std::string& method, const std::string& path) {
    Harness harness;
    const Call call{method, path, {}};
    Statuses statuses;
    for (const HttpProblem problem : problems) {
        statuses.insert(std::to_string(harness.unreadable(call, problem).status));
    }
    statuses.insert(std::to_string(harness.app.failed(Harness::head_of(call)).status));
    return statuses;
}

// Collects statuses until it goes.
class Collector {
public:
    explicit Collector(Statuses& statuses) : statuses_(statuses) {}
    void operator()(const Answer& answer) { statuses_.insert(std::to_string(answer.status)); }

private:
    Statuses& statuses_;
};

// A body for each POST, and a member that makes it another request.
struct Sample {
    const char* file;
    const char* member;
    const char* other;
};

constexpr const char* other_handle =
    "0x8087056f3bf26e9f4fd55bc8108709f57839d4cfd9000000000000001f490000";
constexpr const char* other_address = "0x328595283988001DE40E381E314B1E0C95BD8E78";

const std::map<std::string, Sample> samples{
    {"/v2/input-proof", {"input-proof-1-value.json", "contractAddress", other_address}},
    {"/v2/public-decrypt", {"public-decrypt.json", "ciphertextHandles.0", other_handle}},
    {"/v2/user-decrypt", {"user-decrypt.json", "userAddress", other_address}},
    {"/v2/delegated-user-decrypt",
     {"delegated-user-decrypt.json", "delegateAddress", other_address}},
    {"/v3/user-decrypt",
     {"user-decrypt-v3.json", "attestedPayload.handles.0.ctHandle", other_handle}},
    {"/shielded-vote/v1/shares", {"vote-share.json", "shares_hash", ""}}};

// Sends one POST in every situation that has an answer of its own.
Statuses provoked_by_post(const std::string& path) {
    Statuses statuses = surroundings("POST", path);
    Collector note(statuses);
    const Sample& sample = samples.at(path);
    const std::string body = api_test::sample(sample.file);
    Harness harness;
    note(harness.post(path, body));
    note(harness.post(path, "{"));
    note(harness.send({"POST", path, body, {{"Content-Type", "multipart/form-data"}}}));
    const std::vector<engine::AcceptOutcome> outcomes{engine::Bounced{2}, engine::Conflict{},
                                                      engine::Unavailable{"full", 1}};
    for (const engine::AcceptOutcome& outcome : outcomes) {
        harness.intake.forced = outcome;
        note(harness.post(path, body));
    }
    api::Options options;
    options.share_api_token = "token";
    note(Harness(options).post(path, body));

    Harness keyed;
    const Call first{
        "POST", path, body, {{"Content-Type", "application/json"}, {"Idempotency-Key", "one"}}};
    note(keyed.send(first));
    Call other = first;
    other.body = api_test::sample_with(sample.file, sample.member, sample.other);
    note(keyed.send(other));
    return statuses;
}

Statuses provoked_by_poll(const std::string& path, domain::Kind kind) {
    Statuses statuses = surroundings("GET", path);
    Collector note(statuses);
    Harness harness;
    const auto poll = [&](engine::InquiryOutcome outcome) {
        harness.inquiry.outcome = std::move(outcome);
        note(harness.get(path + "0197a7f0-0000-7000-8000-000000000001"));
    };
    note(harness.get(path + "nonsense"));
    poll(engine::NotFound{});
    poll(engine::Unreadable{"disk"});
    engine::Pending pending;
    pending.kind = kind;
    poll(pending);
    const std::map<domain::Family, domain::Result> results{
        {domain::Family::input_proof, domain::ProofAccepted{}},
        {domain::Family::public_decrypt, domain::PublicDecrypted{}},
        {domain::Family::user_decrypt, domain::UserDecrypted{}}};
    poll(engine::Completed{kind, results.at(domain::family_of(kind))});
    poll(engine::Completed{kind, {}});
    for (const domain::Status status : {domain::Status::failure, domain::Status::timed_out}) {
        for (int reason = 0; reason <= static_cast<int>(domain::Reason::internal_error); ++reason) {
            poll(engine::Ended{kind, status, {static_cast<domain::Reason>(reason), "text", {}}});
        }
    }
    poll(engine::Ended{
        kind, domain::Status::failure, {domain::Reason::reverted, "text", 0xf645eedf}});
    return statuses;
}

// Statuses of options that this build does not know yet.
Statuses unbuilt(const api::Route& route) {
    if (route.action == api::Action::submit) return {"401", "422"};
    if (route.action == api::Action::poll) return {"401"};
    return {};
}

TEST_CASE("the documented statuses of POSTs and polls are those the code sends") {
    for (const api::Route& route : api::routes()) {
        const std::string path(route.path);
        CAPTURE(path);
        Statuses provoked;
        if (route.method == "POST") {
            provoked = provoked_by_post(path);
        } else if (route.action == api::Action::poll) {
            provoked = provoked_by_poll(path, route.kind);
        } else {
            continue;
        }
        for (const std::string& status : unbuilt(route)) {
            CAPTURE(status);
            CHECK_FALSE(provoked.contains(status));
            provoked.insert(status);
        }
        CHECK(joined(documented(route)) == joined(provoked));
    }
}

TEST_CASE("the other routes document what the server around them answers") {
    for (const api::Route& route : api::routes()) {
        if (route.method == "POST" || route.action == api::Action::poll) continue;
        const std::string path(route.path);
        CAPTURE(path);
        Statuses provoked = surroundings("GET", path);
        provoked.insert("200");
        CHECK(joined(documented(route)) == joined(provoked));
    }
}

}  // namespace
