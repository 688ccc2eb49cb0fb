// Any node takes any request: what a client is told through a node is what the owner tells it.

#include <doctest/doctest.h>

#include <set>

#include "api/forwarding/nodes.hpp"
#include "api/harness.hpp"

namespace {

using namespace forwarding_test;

// Of each call its own.
std::string without_call_id(std::string body) {
    const std::string member = R"("requestId":")";
    const std::size_t at = body.find(member);
    const std::size_t begin = at + member.size();
    return at == std::string::npos ? body : body.erase(begin, body.find('"', begin) - begin);
}

TEST_CASE("through a node every route answers every method as the owner itself does") {
    api::Options options;
    options.cors_allow_origin = "https://page";
    options.share_expose_queue_status = true;
    api_test::Harness harness(options);
    OwningNode owner(harness.app, "a", 1, 1, options.cors_allow_origin);
    FollowingNode node("b", {}, options);
    node.view.owned_by(owner.as_owner());

    std::set<std::string> targets{"/",
                                  "/nowhere",
                                  "/v2/input-proof/",
                                  "/v2/input-proof/a/b",
                                  "/shielded-vote/v1/nowhere",
                                  "/v2/keyurl?x=1"};
    for (const api::Route& route : api::routes()) {
        std::string target(route.path);
        if (route.action == api::Action::poll) target += api_test::job_id;
        if (route.action == api::Action::share_status) target += api_test::round_id + "/00";
        // A node answers these for itself.
        if (route.action == api::Action::liveness || route.action == api::Action::healthz ||
            route.action == api::Action::version) {
            continue;
        }
        targets.insert(target);
    }
    const std::string body = R"({"not":"a request"})";
    for (const std::string& target : targets) {
        CAPTURE(target);
        for (const char* const method : {"GET", "HEAD", "POST", "OPTIONS", "PUT"}) {
            CAPTURE(method);
            for (const char* const content_type : {"application/json", "text/plain", ""}) {
                CAPTURE(content_type);
                Call call{method, target, {}, {{"Origin", "https://page"}}};
                if (method == std::string("POST")) call.body = body;
                if (*content_type != '\0') call.headers.emplace_back("Content-Type", content_type);
                Answer direct = owner.client.ask(call);
                Answer forwarded = node.send(call);
                CHECK(forwarded.status == direct.status);
                CHECK(without_call_id(forwarded.body) == without_call_id(direct.body));
                // The connection is the node's own, and so is the clock.
                for (Answer* const answer : {&direct, &forwarded}) {
                    CHECK(answer->headers.erase("Date") == 1);
                    answer->headers.erase("Connection");
                    answer->headers.erase("Keep-Alive");
                }
                CHECK(forwarded.headers == direct.headers);
            }
        }
    }
}

TEST_CASE("a job that was taken through one node is found through another") {
    api_test::Harness harness;
    harness.request_reader.outcome = engine::Pending{};
    OwningNode owner(harness.app);
    FollowingNode b("b");
    FollowingNode c("c");
    b.view.owned_by(owner.as_owner());
    c.view.owned_by(owner.as_owner());
    CHECK(b.get("/v2/input-proof/" + api_test::job_id).status == 202);
    CHECK(c.get("/v2/input-proof/" + api_test::job_id).status == 202);
    owner.view.hold_lease(false);
    CHECK(is_undecided(c.get("/v2/input-proof/" + api_test::job_id)));
}

TEST_CASE("the owner's health says where it stands in its book") {
    api_test::Harness harness;
    ScriptedNode view("a");
    view.owned_by(owner_at("a", "http://a"));
    view.change([](cluster::NodeState& state) { state.role = cluster::Role::owner; });
    api::Application application(harness.options, {harness.submitter,
                                                   harness.request_reader,
                                                   {harness.rounds},
                                                   harness.contracts,
                                                   harness.health,
                                                   harness.keys,
                                                   harness.clock,
                                                   harness.random,
                                                   harness.logger,
                                                   harness.long_polls,
                                                   harness.observer,
                                                   harness.authenticator,
                                                   harness.executor,
                                                   harness.queries,
                                                   harness.queries,
                                                   harness.contract_lookups,
                                                   &harness.queue,
                                                   &view});
    Served served(application);
    api_test::Client client(served.port());
    const Answer well = client.ask({"GET", "/healthz", {}, {}});
    CHECK(well.status == 200);
    CHECK(well.text("/cluster/role") == "owner");
    CHECK(well.text("/cluster/owner") == "a");
    CHECK(well.text("/dependencies/database") == "ok");
    CHECK(well.text("/dependencies/journal") == "ok");
    view.change([](cluster::NodeState& state) { state.reaches_database = false; });
    const Answer cut_off = client.ask({"GET", "/healthz", {}, {}});
    CHECK(cut_off.status == 503);
    CHECK(cut_off.text("/dependencies/journal") == "fail");
    CHECK(cut_off.text("/dependencies/database") == "ok");
}

}  // namespace
