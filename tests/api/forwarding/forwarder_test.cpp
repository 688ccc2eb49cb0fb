#include "api/forwarding/forwarder.hpp"

#include <doctest/doctest.h>

#include "api/forwarding/nodes.hpp"
#include "net/certificate.hpp"

namespace {

using namespace forwarding_test;

TEST_CASE("every kind of request goes to the owner as it is, and its answer comes back") {
    RecordingApplication application([](const net::HttpRequest& request) {
        net::HttpResponse response;
        response.status = 207;
        response.headers = {{"Retry-After", "17"}, {"X-Mine", "yes"}};
        response.body = "answer to " + std::string(request.method);
        response.content_type = "text/plain";
        return response;
    });
    Served owner(application);
    FollowingNode node("b");
    node.view.owned_by(owner_at("a", owner.url()));
    struct Row {
        std::string method;
        std::string target;
        std::string body{};
    };
    std::size_t number = 0;
    for (const Row& row : {
             Row{"POST", "/v2/input-proof", R"({"a":1})"},
             Row{"POST", "/v3/user-decrypt", ""},
             Row{"GET", "/v2/input-proof/0198?wait=20s"},
             Row{"HEAD", "/v2/keyurl"},
             Row{"OPTIONS", "/v2/keyurl"},
             Row{"POST", "/shielded-vote/v1/shares", "{}"},
             Row{"GET", "/shielded-vote/v1/share-status/aa/bb"},
             Row{"GET", "/shielded-vote/v1/status?x=%20%2F&y"},
             Row{"GET", "/docs"},
             Row{"GET", "/docs/openapi.json"},
             Row{"GET", "/admin/config"},
             Row{"POST", "/admin/config", "{}"},
             Row{"GET", "/metrics"},
             Row{"DELETE", "/v2/nowhere?"},
             Row{"POST", "/liveness", "x"},
             Row{"BREW", "/pot", "coffee"},
             Row{"GET", "http://elsewhere/v2/keyurl"},
         }) {
        CAPTURE(row.method);
        CAPTURE(row.target);
        const Answer answer = node.send({row.method, row.target, row.body, {}});
        CHECK(answer.status == 207);
        CHECK(answer.header("Retry-After") == "17");
        CHECK(answer.header("X-Mine") == "yes");
        CHECK(answer.content_type == "text/plain");
        CHECK(answer.header("Content-Length") == std::to_string(10 + row.method.size()));
        CHECK(answer.body == (row.method == "HEAD" ? "" : "answer to " + row.method));
        const auto requests = application.requests();
        REQUIRE(requests.size() == ++number);
        CHECK(requests.back().method == row.method);
        CHECK(requests.back().target == row.target);
        CHECK(requests.back().body == row.body);
    }
    CHECK(node.is_at_rest());
}

TEST_CASE("the largest body arrives whole, and so does a large answer") {
    RecordingApplication application(
        [](const net::HttpRequest& request) { return with_body(std::string(request.body) + "!"); });
    Served owner(application);
    FollowingNode node("b");
    node.view.owned_by(owner_at("a", owner.url()));
    std::string body(on_some_port().body_bytes_max, 'x');
    for (std::size_t i = 0; i < body.size(); i += 997) body[i] = static_cast<char>('a' + i % 26);
    CHECK(node.post("/v2/input-proof", body).body == body + "!");
    // One byte more is refused by the node itself, as the owner would.
    const Answer refused = node.post("/v2/input-proof", body + "x");
    CHECK(refused.status == 400);
    CHECK(refused.label() == "request_error");
    CHECK(application.requests().size() == 1);
}

TEST_CASE("headers go along, but for those of one hop, and none is made up") {
    RecordingApplication application;
    Served owner(application);
    FollowingNode node("b");
    node.view.owned_by(owner_at("a", owner.url()));
    const Answer answer = node.send({"POST",
                                     "/v2/input-proof",
                                     "{}",
                                     {{"x-api-key", "k"},
                                      {"Idempotency-Key", "i"},
                                      {"Prefer", "wait=1"},
                                      {"Prefer", "other"},
                                      {"X-Tab", "a\tb"},
                                      {"X-Latin", "\xE4"},
                                      {"Via", "1.1 edge"},
                                      {"Connection", "keep-alive, X-Hop ,x-other-hop"},
                                      {"X-Hop", "1"},
                                      {"X-Other-Hop", "2"},
                                      {"Keep-Alive", "timeout=5"},
                                      {"TE", "trailers"},
                                      {"Upgrade", "h2c"},
                                      {"Proxy-Authorization", "Basic eA=="},
                                      {"Posthouse-Not-Owner", "1"},
                                      {"Expect", "100-continue"}}});
    REQUIRE(answer.status == 200);
    REQUIRE(application.requests().size() == 1);
    const SeenRequest seen = application.requests().front();
    std::vector<std::string> names;
    for (const auto& [name, value] : seen.headers) names.push_back(name);
    CHECK(names == std::vector<std::string>{"Host", "Accept-Encoding", "x-api-key",
                                            "Idempotency-Key", "Prefer", "Prefer", "X-Tab",
                                            "X-Latin", "Via", "Via", "Posthouse-Forwarded",
                                            "Content-Length"});
    CHECK(seen.all("x-api-key") == std::vector<std::string>{"k"});
    CHECK(seen.all("prefer") == std::vector<std::string>{"wait=1", "other"});
    CHECK(seen.all("x-tab") == std::vector<std::string>{"a\tb"});
    CHECK(seen.all("x-latin") == std::vector<std::string>{"\xE4"});
    CHECK(seen.all("via") == std::vector<std::string>{"1.1 edge", "1.1 posthouse-62"});
}

TEST_CASE("strange headers of an answer come back clean") {
    support::HttpStub stub(support::HttpStub::answering([](const support::StubRequest&) {
        return support::http(299, "body",
                             "content-type: text/x\r\nContent-Type: text/y\r\n"
                             "Connection: X-Secret-Hop\r\nX-Secret-Hop: s\r\nKeep-Alive: a\r\n"
                             "Proxy-Authenticate: Basic\r\nTrailer: X-Later\r\nX-Empty:\r\n"
                             "X-Latin: \xE4\r\nSet-Cookie: b=2\r\n"
                             "Posthouse-Forwarded: f\r\nposthouse-not-owner: 1\r\n"
                             "date: Sun, 06 Nov 1994 08:49:37 GMT\r\n");
    }));
    FollowingNode node("b");
    node.view.owned_by(owner_at("a", stub.url()));
    const Answer answer = node.get("/v2/keyurl");
    CHECK(answer.status == 299);
    CHECK(answer.body == "body");
    CHECK(answer.content_type == "text/y");
    CHECK(answer.header("X-Latin") == "\xE4");
    CHECK(answer.has("X-Empty"));
    CHECK(answer.header("Set-Cookie") == "b=2");
    CHECK(answer.has("Date"));
    CHECK_FALSE(answer.has("date"));
    for (const char* const name : {"X-Secret-Hop", "Proxy-Authenticate", "Trailer",
                                   "Posthouse-Forwarded", "posthouse-not-owner"}) {
        CAPTURE(name);
        CHECK_FALSE(answer.has(name));
    }
}

TEST_CASE("an answer in chunks comes back in one piece, one without a body without one") {
    support::HttpStub stub(support::HttpStub::answering([](const support::StubRequest& request) {
        return request.number == 1 ? "HTTP/1.1 200 Said\r\nTransfer-Encoding: "
                                     "chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n"
                                     "0\r\nX-Trailer: t\r\n\r\n"
                                   : std::string("HTTP/1.1 204 Said\r\nX-Mine: 1\r\n\r\n");
    }));
    FollowingNode node("b");
    node.view.owned_by(owner_at("a", stub.url()));
    CHECK(node.get("/v2/keyurl").body == "abcde");
    const Answer empty = node.get("/v2/keyurl");
    CHECK(empty.status == 204);
    CHECK(empty.header("X-Mine") == "1");
    CHECK_FALSE(empty.has("Content-Type"));
}

TEST_CASE("the owner learns the client's address, and nobody else's header reaches it") {
    RecordingApplication application;
    OwningNode owner(application);
    FollowingNode node("b");
    node.view.owned_by(owner.as_owner());
    net::RawClient elsewhere(node.served.port(), 0, 0x7F00'0005);
    const auto answer = elsewhere.ask(
        "GET /v2/keyurl HTTP/1.1\r\nHost: h\r\nPosthouse-Forwarded: 1 62 10.9.8.7 00 00\r\n"
        "posthouse-forwarded: x\r\n\r\n");
    REQUIRE(answer);
    CHECK(answer->status == 200);
    REQUIRE(application.requests().size() == 1);
    CHECK(application.requests().front().remote == "127.0.0.5");
    CHECK(application.heads().front().remote == "127.0.0.5");
    CHECK(application.requests().front().all("Posthouse-Forwarded").empty());
    CHECK(node.around.logger.count("forwarded_header_refused remote=127.0.0.5") == 1);
    CHECK(owner.around.logger.count("forwarded_header_refused") == 0);
}

TEST_CASE("a request that another node sends here as if to the owner goes no further") {
    RecordingApplication application;
    Served owner(application);
    FollowingNode node("b");
    node.view.owned_by(owner_at("a", owner.url()));
    net::HttpRequest request;
    request.method = "GET";
    request.target = "/v2/keyurl";
    const std::string value = api::forwarding::forwarded_value(
        *keys_of(1), {.node = "c", .address = "192.0.2.1", .instance = instance_of(9)}, "b",
        request);
    const Answer answer = node.send({"GET", "/v2/keyurl", {}, {{"Posthouse-Forwarded", value}}});
    CHECK(answer.status == 503);
    CHECK(answer.header("Posthouse-Not-Owner") == "1");
    CHECK(answer.header("Retry-After") == "1");
    CHECK(application.requests().empty());
}

TEST_CASE("a node answers for itself without an owner") {
    api::Options routes;
    routes.app_name = "name";
    routes.cors_allow_origin = "https://page";
    FollowingNode node("b", {}, routes);
    const Answer alive = node.get("/liveness");
    CHECK(alive.json == Json{{"status", "alive"}});
    CHECK(alive.header("Access-Control-Allow-Origin") == "https://page");
    CHECK(node.get("/version").text("/name") == "name");
    CHECK(node.get("/healthz?x").status == 200);
    CHECK(node.send({"HEAD", "/liveness", {}, {}}).header("Content-Length") == "18");
}

TEST_CASE("while nobody owns the book everything else is 503, in the shape of its route") {
    api::Options routes;
    routes.cors_allow_origin = "*";
    FollowingNode node("b", {}, routes);
    const auto check_all = [&] {
        for (const char* const target :
             {"/v2/input-proof/0198", "/v2/keyurl", "/docs", "/nowhere"}) {
            CAPTURE(target);
            const Answer answer = node.get(target);
            CHECK(is_undecided(answer));
            CHECK(answer.header("Access-Control-Allow-Origin") == "*");
        }
        CHECK(is_undecided(node.post("/v2/input-proof")));
        const Answer share = node.post("/shielded-vote/v1/shares");
        CHECK(share.status == 503);
        CHECK(share.header("Retry-After") == "1");
        CHECK(share.json == Json{{"status", "error"}, {"error", "helper unavailable"}});
        const Answer admin = node.get("/admin/config");
        CHECK(admin.status == 503);
        CHECK(admin.header("Retry-After") == "1");
        CHECK(admin.json["error"].is_string());
    };
    check_all();
    // As after a step-down; before anybody owned it; and as somebody remembers this node itself.
    for (const cluster::Owner& owner :
         {owner_at("a", ""), cluster::Owner{}, owner_at("b", "http://127.0.0.1:1")}) {
        node.view.owned_by(owner);
        check_all();
    }
    CHECK(node.is_at_rest());
}

TEST_CASE("an owner whose URL is none is an owner nobody reaches") {
    FollowingNode node("b");
    for (const char* const url : {"a.internal:3000", "ws://a", "http://"}) {
        CAPTURE(url);
        node.view.owned_by(owner_at("a", url));
        CHECK(is_undecided(node.get("/v2/keyurl")));
    }
    CHECK(node.around.logger.count("forward_failed owner=a") == 1);
}

TEST_CASE("a long poll holds no thread, and is answered when the owner does") {
    RecordingApplication application;
    application.hold();
    Served owner(application);
    FollowingNode node("b");
    node.view.owned_by(owner_at("a", owner.url()));
    constexpr std::size_t polls = 40;
    std::vector<api_test::Client> clients;
    for (std::size_t i = 0; i < polls; ++i) {
        clients.emplace_back(node.served.port());
        clients.back().send({"GET", "/v2/input-proof/" + std::to_string(i) + "?wait=60", {}, {}});
    }
    auto exchanges = application.take(polls);
    REQUIRE(exchanges.size() == polls);
    CHECK(node.forwarder.under_way() == polls);
    // Others are served meanwhile.
    CHECK(node.get("/liveness").status == 200);
    for (auto& exchange : exchanges) {
        const std::string path(exchange.request().path);
        exchange.answer(with_body(path));
    }
    for (std::size_t i = 0; i < polls; ++i) {
        CHECK(clients.at(i).take().body == "/v2/input-proof/" + std::to_string(i));
    }
    CHECK(node.is_at_rest());
}

TEST_CASE("when the client of a long poll hangs up the owner hears of it") {
    RecordingApplication application;
    application.hold();
    Served owner(application);
    FollowingNode node("b");
    node.view.owned_by(owner_at("a", owner.url()));
    std::optional<net::RawClient> client(std::in_place, node.served.port());
    client->send(net::get("/v2/input-proof/0198?wait=60"));
    const auto exchanges = application.take(1);
    REQUIRE(exchanges.size() == 1);
    client.reset();
    CHECK(application.await_gone());
    CHECK(node.is_at_rest());
    CHECK(node.around.logger.count("forward_failed") == 0);
}

TEST_CASE("a client that hangs up otherwise takes nothing along") {
    RecordingApplication application;
    application.hold();
    Served owner(application);
    FollowingNode node("b");
    node.view.owned_by(owner_at("a", owner.url()));
    std::optional<net::RawClient> client(std::in_place, node.served.port());
    client->send(net::post("/v2/input-proof", "{}"));
    auto exchanges = application.take(1);
    REQUIRE(exchanges.size() == 1);
    client.reset();
    exchanges.front().answer({});
    CHECK(node.is_at_rest());
    // Half a body reaches nobody.
    net::RawClient half(node.served.port());
    half.send("POST /v2/input-proof HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n{");
    half.finish_sending();
    const auto refused = half.answer();
    REQUIRE(refused);
    CHECK(refused->status == 400);
    CHECK(application.requests().size() == 1);
}

TEST_CASE("beyond the budget of exchanges requests are 503, and it is given back") {
    RecordingApplication application;
    application.hold();
    Served owner(application);
    FollowingNode node("b", {.node = {}, .exchanges_max = 3});
    node.view.owned_by(owner_at("a", owner.url()));
    std::vector<api_test::Client> clients;
    for (int round = 0; round < 3; ++round) {
        CAPTURE(round);
        clients.clear();
        for (int i = 0; i < 3; ++i) {
            clients.emplace_back(node.served.port());
            clients.back().send({"GET", "/v2/input-proof/0198?wait=60", {}, {}});
        }
        auto exchanges = application.take(3);
        REQUIRE(exchanges.size() == 3);
        for (int i = 0; i < 20; ++i) CHECK(is_undecided(node.post("/v2/input-proof")));
        CHECK(node.get("/liveness").status == 200);
        CHECK(node.forwarder.under_way() == 3);
        for (auto& exchange : exchanges) exchange.answer({});
        for (auto& client : clients) CHECK(client.take().status == 200);
    }
    CHECK(application.requests().size() == 9);
    CHECK(node.is_at_rest());
}

TEST_CASE("polls that wait leave places to other requests: one too many does not wait") {
    RecordingApplication application;
    application.hold();
    OwningNode owner(application);
    FollowingNode node("b", {.node = {}, .exchanges_max = 4});
    node.view.owned_by(owner.as_owner());
    const std::string job = "/v2/input-proof/0198";
    std::vector<api_test::Client> clients;
    const auto poll = [&](const std::string& target, const std::string& prefers = {}) {
        clients.emplace_back(node.served.port());
        clients.back().send({"GET", target, {}, {{"Prefer", prefers}}});
        auto exchanges = application.take(1);
        REQUIRE(exchanges.size() == 1);
        CHECK(application.requests().back().target.starts_with(job));
        return std::move(exchanges.front());
    };
    const auto seen = [&] { return application.requests().back().target; };
    for (int round = 0; round < 2; ++round) {
        CAPTURE(round);
        std::vector<net::HttpExchange> waiting;
        for (int i = 0; i < 3; ++i) {
            waiting.push_back(poll(job + "?wait=60"));
            CHECK(seen() == job + "?wait=60");
        }
        for (const auto& [target, prefers, told] : {std::tuple{"?wait=60s", "", "?wait=0&wait=60s"},
                                                    {"?x=1&wait=60", "", "?wait=0&x=1&wait=60"},
                                                    {"", "wait=60", "?wait=0"},
                                                    {"?x", "wait=60", "?wait=0&x"},
                                                    {"", "", ""}}) {
            CAPTURE(told);
            auto exchange = poll(job + target, prefers);
            CHECK(seen() == job + told);
            exchange.answer({});
            CHECK(clients.back().take().status == 200);
        }
        for (net::HttpExchange& exchange : waiting) exchange.answer({});
        for (int i = 0; i < 3; ++i) {
            CHECK(clients[static_cast<std::size_t>(i)].take().status == 200);
        }
        clients.clear();
        CHECK(node.is_at_rest());
    }
    CHECK(owner.around.logger.count("forwarded_header_refused") == 0);
    CHECK(node.around.logger.count("forward_failed") == 0);
}

TEST_CASE("connections to the owner are used again") {
    support::HttpStub stub(support::HttpStub::answering(
        [](const support::StubRequest&) { return support::http(200, "{}"); }));
    FollowingNode node("b");
    node.view.owned_by(owner_at("a", stub.url()));
    for (int i = 0; i < 20; ++i) CHECK(node.post("/v2/input-proof").status == 200);
    CHECK(stub.connections() == 1);
    // Also when the owner has raised its epoch.
    node.view.change([](cluster::NodeState& state) { ++state.owner->epoch; });
    node.forwarder.look_at_owner();
    CHECK(node.get("/v2/keyurl").status == 200);
    CHECK(stub.connections() == 1);
}

TEST_CASE("the owner's certificate must be of those the node trusts") {
    const net::PemFolder folder;
    folder.write_pair("a.pem", "a.key", "a", {}, "IP:127.0.0.1");
    folder.write_pair("other.pem", "other.key", "a", {}, "IP:127.0.0.1");
    support::HttpStub stub(support::HttpStub::answering([](const support::StubRequest&) {
                               return support::http(200, "{}");
                           }),
                           {folder.file("a.pem"), folder.file("a.key")});
    for (const auto& [ca_file, is_answered] :
         {std::pair{"a.pem", true}, {"other.pem", false}, {"missing.pem", false}}) {
        CAPTURE(ca_file);
        FollowingNode node("b", {.node = {}, .ca_file = folder.file(ca_file)});
        node.view.owned_by(owner_at("a", stub.url()));
        const Answer answer = node.post("/v2/input-proof");
        CHECK((is_answered ? answer.status == 200 : is_undecided(answer)));
        CHECK(node.is_at_rest());
    }
    CHECK(stub.count() == 1);
}

TEST_CASE("a request that can not be read is refused as by the owner") {
    FollowingNode node("b");
    net::RawClient client(node.served.port());
    const auto answer = client.ask("GET /v2/keyurl HTTP/1.1\r\n\r\n");
    REQUIRE(answer);
    CHECK(answer->status == 400);
    CHECK(Json::parse(answer->body)["error"]["label"] == "request_error");
    net::RawClient voter(node.served.port());
    const auto share = voter.ask("GET /shielded-vote/v1/status HTTP/1.1\r\n\r\n");
    REQUIRE(share);
    CHECK(Json::parse(share->body)["status"] == "error");
}

TEST_CASE("a failure of the node's own is 500, in the shape of its route") {
    FollowingNode node("b");
    net::HttpRequest request;
    request.path = "/v2/keyurl";
    CHECK(node.forwarder.failed(request).status == 500);
    request.path = "/shielded-vote/v1/status";
    CHECK(Json::parse(node.forwarder.failed(request).body)["status"] == "error");
    CHECK(node.around.logger.count("request_failed") == 1);
}

}  // namespace
