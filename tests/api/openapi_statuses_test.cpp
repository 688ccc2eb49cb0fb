// The statuses the OpenAPI document has for a route are those the code sends, provoked one by one.

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "api/openapi.hpp"
#include "api/samples.hpp"
#include "support/temp_directory.hpp"

namespace {

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

// What the server around the routes answers, and what becomes of an exception.
Statuses surroundings(const std::string& method, const std::string& path) {
    Harness harness;
    const Call call{method, path, {}};
    Statuses statuses;
    for (const net::HttpProblem problem : problems) {
        const net::HttpRequest head = api_test::head_of(call);
        statuses.insert(std::to_string(harness.app.unreadable(head, problem).status));
    }
    statuses.insert(std::to_string(harness.app.failed(api_test::head_of(call)).status));
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

const std::map<std::string, std::string> samples{
    {"/v2/input-proof", "input-proof-1-value.json"},
    {"/v2/public-decrypt", "public-decrypt.json"},
    {"/v2/user-decrypt", "user-decrypt.json"},
    {"/v2/delegated-user-decrypt", "delegated-user-decrypt.json"},
    {"/v3/user-decrypt", "user-decrypt-v3.json"},
    {"/shielded-vote/v1/shares", "vote-share.json"}};

// What clients without a key, and those that ask too often, are told.
Statuses provoked_by_keys(const std::string& method, const std::string& path,
                          const std::string& body) {
    const support::TempDirectory directory;
    const std::string key = "0123456789abcdef";
    const std::filesystem::path file = directory.path() / "keys";
    std::ofstream(file) << "wallet " << key << " 0.01 1\n";
    ::chmod(file.c_str(), 0600);
    api::Options options;
    options.access.client_keys_file = options.access.share_tokens_file = file.string();
    options.share_expose_queue_status = true;
    Harness harness(options);
    Statuses statuses;
    Collector note(statuses);
    note(harness.send({method, path, body}));
    const Call call{
        method,
        path,
        body,
        {{"Content-Type", "application/json"}, {"x-api-key", key}, {"X-Helper-Token", key}}};
    note(harness.send(call));
    note(harness.send(call));
    return statuses;
}

// Sends one POST in every situation that has an answer of its own.
Statuses provoked_by_post(const std::string& path) {
    Statuses statuses = surroundings("POST", path);
    Collector note(statuses);
    const std::string body = api_test::sample(samples.at(path));
    Harness harness;
    note(harness.post(path, body));
    note(harness.post(path, "{"));
    note(harness.send(
        {"POST",
         path,
         body,
         {{"Origin", "https://dapp.example"}, {"Content-Type", "multipart/form-data"}}}));
    const std::vector<engine::AcceptOutcome> outcomes{engine::QueueFull{2}, engine::Conflict{},
                                                      engine::KeyReused{},
                                                      engine::Unavailable{"full", 1}};
    for (const engine::AcceptOutcome& outcome : outcomes) {
        harness.submitter.forced = outcome;
        note(harness.post(path, body));
    }
    api::Options options;
    options.access.share_api_token = "token";
    note(Harness(options).post(path, body));
    statuses.merge(provoked_by_keys("POST", path, body));
    return statuses;
}

Statuses provoked_by_poll(const std::string& path, domain::Kind kind) {
    Statuses statuses = surroundings("GET", path);
    Collector note(statuses);
    Harness harness;
    const auto poll = [&](engine::FindOutcome outcome) {
        harness.request_reader.outcome = std::move(outcome);
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
        {domain::Family::user_decrypt, domain::UserDecrypted{{{1, {0xA1}, {0xB2}, {}}}}}};
    poll(engine::Completed{kind, results.at(domain::family_of(kind))});
    poll(engine::Completed{kind, {}});
    for (const domain::Status status : {domain::Status::failure, domain::Status::timed_out}) {
        for (int reason = 0; reason <= static_cast<int>(domain::Reason::internal_error); ++reason) {
            poll(engine::Ended{kind, status, {static_cast<domain::Reason>(reason), "text", {}}});
        }
    }
    poll(engine::Ended{
        kind, domain::Status::failure, {domain::Reason::reverted, "text", 0xf645eedf}});
    statuses.merge(provoked_by_keys("GET", path + "0197a7f0-0000-7000-8000-000000000001", {}));
    return statuses;
}

TEST_CASE("the documented statuses of POSTs and polls are those the code sends") {
    for (const api::Route& route : api::routes()) {
        const std::string path(route.path);
        CAPTURE(path);
        if (route.action == api::Action::admin) continue;  // has a listener of its own
        Statuses provoked;
        if (route.method == "POST") {
            provoked = provoked_by_post(path);
        } else if (route.action == api::Action::poll) {
            provoked = provoked_by_poll(path, route.kind);
        } else {
            continue;
        }
        CHECK(joined(documented(route)) == joined(provoked));
    }
}

TEST_CASE("the other routes document what the server around them answers") {
    for (const api::Route& route : api::routes()) {
        if (route.method == "POST" || route.action == api::Action::poll ||
            route.action == api::Action::admin) {
            continue;
        }
        std::string path(route.path);
        if (route.action == api::Action::share_status) {
            path += std::string(64, 'a') + "/" + std::string(64, 'b');
        }
        CAPTURE(path);
        Statuses provoked = surroundings("GET", path);
        Harness harness;
        harness.keys.given = engine::KeyMaterial{};
        provoked.insert(std::to_string(harness.get(path).status));
        provoked.merge(provoked_by_keys("GET", path, {}));
        CHECK(joined(documented(route)) == joined(provoked));
    }
}

}  // namespace
