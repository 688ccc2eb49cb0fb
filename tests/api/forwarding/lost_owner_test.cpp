// Owners that vanish, hang, are none any more, or take somebody else for the owner.

#include <doctest/doctest.h>

#include "api/forwarding/nodes.hpp"

namespace {

using namespace forwarding_test;
using support::HttpStub;
using support::StubPeer;
using support::StubRequest;

std::string deserted() {
    return "http://127.0.0.1:" + std::to_string(support::deserted_port());
}

TEST_CASE("an owner that can not be reached: the next one is asked once, with the same request") {
    RecordingApplication application;
    OwningNode next(application, "c", 2);
    FollowingNode node("b");
    for (const char* const method : {"POST", "GET"}) {
        CAPTURE(method);
        node.view.owned_by(owner_at("a", deserted()), next.as_owner());
        CHECK(node.send({method, "/v2/input-proof", method == std::string("POST") ? "{}" : ""})
                  .status == 200);
    }
    REQUIRE(application.requests().size() == 2);
    CHECK(application.requests().front().body == "{}");
    // Its header was made anew, or it would not be believed.
    CHECK(next.around.logger.count("forwarded_header_refused") == 0);
    CHECK(application.requests().front().remote == "127.0.0.1");
    CHECK(application.requests().front().all("Via").size() == 1);
    CHECK(node.is_at_rest());
}

TEST_CASE("an owner that can not be reached, and no other: 503") {
    FollowingNode node("b");
    node.view.owned_by(owner_at("a", deserted()));
    CHECK(is_undecided(node.get("/v2/keyurl")));
    CHECK(is_undecided(node.post("/v2/input-proof")));
    // The third is not asked.
    node.view.owned_by(owner_at("a", deserted()), owner_at("c", deserted(), 2));
    CHECK(is_undecided(node.post("/v2/input-proof")));
    CHECK(node.is_at_rest());
    CHECK(node.around.logger.count("forward_failed owner=a") == 1);
}

TEST_CASE("who says that it is not the owner has taken nothing: the next one is asked once") {
    const auto not_owner = [](const StubRequest&) {
        return support::http(503, "{}", "Posthouse-Not-Owner: 1\r\nRetry-After: 1\r\n");
    };
    HttpStub former(HttpStub::answering(not_owner));
    HttpStub other_former(HttpStub::answering(not_owner));
    RecordingApplication application;
    OwningNode next(application, "c", 2);
    FollowingNode node("b");

    node.view.owned_by(owner_at("a", former.url()));
    CHECK(is_undecided(node.post("/v2/input-proof")));
    CHECK(former.count() == 1);

    node.view.owned_by(owner_at("a", former.url()), next.as_owner());
    CHECK(node.post("/v2/input-proof").status == 200);
    CHECK(former.count() == 2);
    CHECK(application.requests().size() == 1);

    node.view.owned_by(owner_at("a", former.url()), owner_at("d", other_former.url(), 3));
    CHECK(is_undecided(node.post("/v2/input-proof")));
    CHECK(former.count() == 3);
    CHECK(other_former.count() == 1);
    CHECK(node.is_at_rest());
}

TEST_CASE("an ordinary 503 of the owner is its answer") {
    HttpStub stub(HttpStub::answering([](const StubRequest&) {
        return support::http(503, R"({"x":1})", "Retry-After: 30\r\n");
    }));
    FollowingNode node("b");
    node.view.owned_by(owner_at("a", stub.url()), owner_at("c", deserted(), 2));
    const Answer answer = node.get("/v2/keyurl");
    CHECK(answer.status == 503);
    CHECK(answer.header("Retry-After") == "30");
    CHECK(answer.body == R"({"x":1})");
}

TEST_CASE("an owner that vanishes once it has the request: 503, and nobody else is asked") {
    struct Row {
        const char* label;
        HttpStub::Script script;
    };
    for (const Row& row : {
             Row{"before a byte", [](StubPeer&, const StubRequest&) { return false; }},
             Row{"with a reset",
                 [](StubPeer&peer, const StubRequest&) {
                     peer.reset();
                     return false;
                 }},
             Row{"in the head",
                 [](StubPeer&peer, const StubRequest&) {
                     peer.send("HTTP/1.1 200 Said\r\nContent-Le");
                     return false;
                 }},
             Row{"in the body",
                 [](StubPeer&peer, const StubRequest&) {
                     peer.send("HTTP/1.1 404 Said\r\nContent-Length: 5\r\n\r\nab");
                     return false;
                 }},
             Row{"with what is no HTTP",
                 [](StubPeer&peer, const StubRequest&) {
                     peer.send("hello\r\n\r\n");
                     return false;
                 }},
         }) {
        CAPTURE(row.label);
        for (const char* const method : {"GET", "POST"}) {
            CAPTURE(method);
            HttpStub stub(row.script);
            RecordingApplication other;
            Served next(other);
            FollowingNode node("b");
            node.view.owned_by(owner_at("a", stub.url()), owner_at("c", next.url(), 2));
            const std::string body = method == std::string("POST") ? "{}" : "";
            CHECK(is_undecided(node.send({method, "/v2/input-proof/0198", body})));
            CHECK(stub.count() == 1);
            CHECK(other.requests().empty());
            CHECK(node.is_at_rest());
        }
    }
}

TEST_CASE("an owner that takes no more of a large body and answers is heard") {
    support::StubServer hasty([](StubPeer& peer) {
        static_cast<void>(peer.read_some());
        peer.send(support::http(400, "early", "Connection: close\r\n"));
        // Reads on, as servers do, so that the answer is not taken back.
        while (!peer.read_some().empty()) continue;
    });
    FollowingNode node("b");
    node.view.owned_by(owner_at("a", "http://127.0.0.1:" + std::to_string(hasty.port())));
    const Answer answer = node.post("/v2/input-proof", std::string(1'500'000, 'x'));
    CHECK(answer.status == 400);
    CHECK(answer.body == "early");
}

TEST_CASE("an answer that is larger than allowed is none") {
    HttpStub stub(HttpStub::answering(
        [](const StubRequest&) { return support::http(200, std::string(101, 'x')); }));
    FollowingNode node("b", {.node = {}, .answer_bytes_max = 100});
    node.view.owned_by(owner_at("a", stub.url()));
    CHECK(is_undecided(node.get("/v2/keyurl")));
}

TEST_CASE("an owner that hangs costs the patience of a request, and no more") {
    HttpStub stub([](StubPeer& peer, const StubRequest&) {
        peer.hang();
        return false;
    });
    FollowingNode node("b", {.node = {}, .patience = std::chrono::milliseconds{20}});
    node.view.owned_by(owner_at("a", stub.url()));
    CHECK(is_undecided(node.post("/v2/input-proof")));
    CHECK(node.is_at_rest());
}

TEST_CASE("whoever waits for a former owner is answered when another one is known") {
    HttpStub stub([](StubPeer& peer, const StubRequest&) {
        peer.hang();
        return false;
    });
    RecordingApplication application;
    Served next(application);
    FollowingNode node("b");
    node.view.owned_by(owner_at("a", stub.url()));
    std::vector<api_test::Client> clients;
    for (int i = 0; i < 10; ++i) {
        clients.emplace_back(node.served.port());
        clients.back().send({"GET", "/v2/input-proof/0198?wait=60", {}, {}});
    }
    REQUIRE(stub.await(10));
    node.forwarder.look_at_owner();
    CHECK(node.forwarder.under_way() == 10);
    // Nobody known yet: they may be answered still.
    node.view.owned_by(owner_at("a", ""));
    node.forwarder.look_at_owner();
    CHECK(node.forwarder.under_way() == 10);

    node.view.owned_by(owner_at("c", next.url(), 2));
    node.forwarder.look_at_owner();
    for (auto& client : clients) CHECK(is_undecided(client.take()));
    CHECK(node.get("/v2/keyurl").status == 200);
    CHECK(node.is_at_rest());
}

TEST_CASE("a node that stops answers what waits, and everything after it") {
    RecordingApplication application;
    application.hold();
    Served owner(application);
    FollowingNode node("b");
    node.view.owned_by(owner_at("a", owner.url()));
    api_test::Client client(node.served.port());
    client.send({"GET", "/v2/input-proof/0198?wait=60", {}, {}});
    const auto exchanges = application.take(1);
    REQUIRE(exchanges.size() == 1);
    node.forwarder.stop();
    CHECK(is_undecided(client.take()));
    CHECK(is_undecided(node.post("/v2/input-proof")));
    CHECK(node.forwarder.under_way() == 0);
}

TEST_CASE("two nodes that take each other for the owner: it ends at the second") {
    FollowingNode b("b");
    FollowingNode c("c");
    b.view.owned_by(owner_at("c", c.served.url(), 2));
    c.view.owned_by(owner_at("b", b.served.url(), 3));
    CHECK(is_undecided(b.get("/v2/keyurl")));
    CHECK(is_undecided(c.post("/v2/input-proof")));
    CHECK(c.around.logger.count("it takes this node for the owner") == 1);
    CHECK(b.is_at_rest());
    CHECK(c.is_at_rest());
}

TEST_CASE("and when they do not believe each other: it ends where it began") {
    FollowingNode b("b", {}, {}, 1);
    FollowingNode c("c", {}, {}, 2);
    b.view.owned_by(owner_at("c", c.served.url(), 2));
    c.view.owned_by(owner_at("b", b.served.url(), 3));
    CHECK(is_undecided(b.get("/v2/keyurl")));
    CHECK(b.around.logger.count("this node has passed it on before") == 1);
    CHECK(c.around.logger.count("forwarded_header_refused") == 1);
    CHECK(b.is_at_rest());
    CHECK(c.is_at_rest());
}

}  // namespace
