#include "api/forwarding/owner_application.hpp"

#include <doctest/doctest.h>

#include "api/forwarding/nodes.hpp"

namespace {

using namespace forwarding_test;

// A call as node `b` passes it on to the process `instance` of node `a`.
Call passed_on(Call call, std::uint8_t instance = 1, std::uint8_t key = 1) {
    net::HttpRequest request;
    request.method = call.method;
    request.target = call.path;
    call.headers.emplace_back(
        "Posthouse-Forwarded",
        api::forwarding::forwarded_value(
            *keys_of(key), {.node = "b", .address = "192.0.2.7", .instance = instance_of(instance)},
            "a", request));
    return call;
}

TEST_CASE("a request of another node seems to come from its client") {
    RecordingApplication application;
    OwningNode owner(application);
    CHECK(owner.client.ask(passed_on({"POST", "/v2/input-proof", "{}"})).status == 200);
    const auto requests = application.requests();
    REQUIRE(requests.size() == 1);
    CHECK(requests.front().remote == "192.0.2.7");
    CHECK(requests.front().body == "{}");
    CHECK(requests.front().all("Posthouse-Forwarded").empty());
    CHECK(requests.front().all("Content-Type") == std::vector<std::string>{"application/json"});
    CHECK(application.heads().front().remote == "192.0.2.7");
    CHECK(application.heads().front().all("Posthouse-Forwarded").empty());
    // Its own ticket comes back to it.
    CHECK(application.tickets() == std::vector<std::string>{"192.0.2.7"});
}

TEST_CASE("a large body of another node's client arrives with its address") {
    // The bytes of a head move while its body grows.
    RecordingApplication application;
    OwningNode owner(application);
    const std::string body(1'000'000, 'x');
    CHECK(owner.client.ask(passed_on({"POST", "/v2/input-proof", body})).status == 200);
    CHECK(application.requests().front().remote == "192.0.2.7");
    CHECK(application.requests().front().target == "/v2/input-proof");
    CHECK(application.requests().front().body == body);
}

TEST_CASE("a client's own request goes in as it is") {
    RecordingApplication application;
    OwningNode owner(application);
    CHECK(owner.client.ask({"GET", "/v2/keyurl", {}, {{"X-Mine", "1"}}}).status == 200);
    CHECK(owner.client.ask({"GET", "/early", {}, {}}).status == 418);
    const auto requests = application.requests();
    REQUIRE(requests.size() == 1);
    CHECK(requests.front().remote == "127.0.0.1");
    CHECK(requests.front().all("X-Mine").size() == 1);
    CHECK(owner.around.logger.lines().empty());
}

TEST_CASE("a header without a proof changes nothing, and fills no log") {
    RecordingApplication application;
    OwningNode owner(application);
    CHECK(owner.client.ask(passed_on({"GET", "/v2/keyurl", {}, {}}, 1, 2)).status == 200);
    Call moved = passed_on({"GET", "/v2/keyurl", {}, {}});
    moved.path = "/v2/input-proof/0198";
    CHECK(owner.client.ask(moved).status == 200);
    CHECK(owner.client.ask({"GET", "/", {}, {{"Posthouse-Forwarded", "1 62 10.1.1.1 00 00"}}})
              .status == 200);
    REQUIRE(application.requests().size() == 3);
    for (const SeenRequest& seen : application.requests()) CHECK(seen.remote == "127.0.0.1");
    CHECK(owner.around.logger.count("forwarded_header_refused remote=127.0.0.1") == 1);
}

TEST_CASE("a request for an earlier ownership of this node is not taken") {
    RecordingApplication application;
    OwningNode owner(application, "a", 2);
    const Answer answer = owner.client.ask(passed_on({"GET", "/v2/keyurl", {}, {}}, 1));
    CHECK(answer.status == 503);
    CHECK(answer.header("Retry-After") == "1");
    CHECK(answer.header("Posthouse-Not-Owner") == "1");
    CHECK(application.heads().empty());
    CHECK(application.requests().empty());
}

TEST_CASE("while the lease is not held no answer leaves but the node's own") {
    RecordingApplication application([](const net::HttpRequest&) { return with_status(404); });
    OwningNode owner(application, "a", 1, 1, "*");
    owner.view.hold_lease(false);
    for (const char* const target : {"/v2/input-proof/0198", "/v2/keyurl", "/docs", "/early"}) {
        CAPTURE(target);
        const Answer own = owner.client.ask({"GET", target, {}, {}});
        CHECK(is_undecided(own));
        CHECK(own.header("Access-Control-Allow-Origin") == "*");
        const Answer forwarded = owner.client.ask(passed_on({"GET", target, {}, {}}));
        CHECK(forwarded.status == 503);
        CHECK(forwarded.header("Posthouse-Not-Owner") == "1");
    }
    for (const char* const target : {"/liveness", "/healthz", "/version"}) {
        CAPTURE(target);
        CHECK(owner.client.ask({"GET", target, {}, {}}).status == 404);
    }
    owner.view.hold_lease(true);
    CHECK(owner.client.ask({"GET", "/v2/input-proof/0198", {}, {}}).status == 404);
}

TEST_CASE("the lease counts when the answer leaves, not when the request came") {
    RecordingApplication application;
    application.hold();
    OwningNode owner(application);
    owner.client.send({"POST", "/v2/input-proof", "{}"});
    auto lost = application.take(1);
    REQUIRE(lost.size() == 1);
    owner.view.hold_lease(false);
    lost.front().answer(with_status(202));
    CHECK(is_undecided(owner.client.take()));

    owner.client.send({"POST", "/v2/input-proof", "{}"});
    auto held = application.take(1);
    REQUIRE(held.size() == 1);
    owner.view.hold_lease(true);
    held.front().answer(with_status(202));
    CHECK(owner.client.take().status == 202);
}

TEST_CASE("an exchange that the application drops is answered as failed") {
    RecordingApplication application;
    application.hold();
    OwningNode owner(application);
    owner.client.send({"GET", "/v2/keyurl", {}, {}});
    application.take(1).clear();
    CHECK(owner.client.take().status == 500);
}

TEST_CASE("the application hears when the peer hangs up") {
    RecordingApplication application;
    application.hold();
    OwningNode owner(application);
    std::optional<net::RawClient> client(std::in_place, owner.served.port());
    client->send(net::get("/v2/input-proof/0198?wait=60"));
    const auto exchanges = application.take(1);
    REQUIRE(exchanges.size() == 1);
    client.reset();
    CHECK(application.await_gone());
}

TEST_CASE("an answer that comes when the owner's application is gone still passes its guard") {
    RecordingApplication application;
    application.hold();
    Surroundings around;
    ScriptedNode view("a");
    std::optional<api::forwarding::OwnerApplication> owner(
        std::in_place,
        api::forwarding::OwnerApplication::Parts{application, view, keys_of(1), around.clock,
                                                 around.random, around.logger},
        api::forwarding::OwnerApplication::Identity{"a", instance_of(1)}, std::string());
    Served served(*owner);
    api_test::Client client(served.port());
    client.send({"POST", "/v2/input-proof", "{}"});
    auto late = application.take(1);
    REQUIRE(late.size() == 1);
    owner.reset();  // nothing else is asked of it meanwhile
    view.hold_lease(false);
    late.front().answer(with_status(202));
    CHECK(is_undecided(client.take()));
}

}  // namespace
