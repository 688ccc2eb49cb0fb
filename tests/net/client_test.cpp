#include "net/client.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/http_stub.hpp"

// What goes over the wire, and how a client ends. What becomes of answers of all kinds is in
// tests/chains/evm/http_exchange_test.cpp and its neighbours.
namespace net {
namespace {

using namespace std::chrono_literals;
using support::HttpStub;
using support::StubPeer;
using support::StubRequest;

using Headers = std::vector<std::pair<std::string, std::string>>;

constexpr std::chrono::milliseconds ample = 10s;

Url url(const std::string& text) {
    return parse_url(text).value();
}

std::string kind_of(const ClientResult& result) {
    if (std::holds_alternative<ClientResponse>(result)) return "response";
    switch (std::get<TransportError>(result).kind) {
        case TransportError::Kind::unsent:
            return "unsent";
        case TransportError::Kind::throttled:
            return "throttled";
        case TransportError::Kind::lost:
            return "lost";
        case TransportError::Kind::timed_out:
            return "timed_out";
        case TransportError::Kind::garbled:
            return "garbled";
        case TransportError::Kind::stopped:
            return "stopped";
    }
    return "";
}

HttpStub::Script always(const std::string& bytes) {
    return HttpStub::answering([bytes](const StubRequest&) { return bytes; });
}

HttpStub::Script hanging() {
    return [](StubPeer& peer, const StubRequest&) {
        peer.hang();
        return false;
    };
}

// The head that a server behind this URL gets, `place` standing for its host and port.
struct Sent {
    std::string place;
    std::string head;
};
Sent sent(const ClientRequest& request, const std::string& credentials = {},
          const std::string& target = "/") {
    HttpStub stub(always(support::http(200, "")));
    const std::string address = stub.url("127.0.0.1", target);
    const std::size_t host = address.find("127");
    Client client(url("http://" + credentials + address.substr(host)), 100, nullptr);
    REQUIRE(kind_of(client.exchange(request, ample)) == "response");
    return {address.substr(host, address.find('/', host) - host), stub.requests().front().head};
}

TEST_CASE("a GET and a POST in full") {
    const Sent get =
        sent({.method = "GET", .target = "/a?b=c", .body = "not sent"}, "u:p@", "/base/?key=1");
    CHECK(get.head ==
          "GET /base/a?b=c&key=1 HTTP/1.1\r\nHost: " + get.place +
              "\r\nAuthorization: Basic dTpw\r\nUser-Agent: posthouse\r\nAccept: application/json"
              "\r\nAccept-Encoding: identity\r\n");
    const Sent post = sent({.method = "POST", .body = "{}"}, "", "/base/?key=1");
    CHECK(post.head ==
          "POST /base/?key=1 HTTP/1.1\r\nHost: " + post.place +
              "\r\nUser-Agent: posthouse\r\nContent-Type: application/json\r\nAccept: "
              "application/json\r\nAccept-Encoding: identity\r\nContent-Length: 2\r\n");
    const Sent empty = sent({.method = "POST", .target = "/x"});
    CHECK(empty.head.starts_with("POST /x HTTP/1.1\r\n"));
    CHECK(empty.head.find("Content-Length: 0\r\n") != std::string::npos);
}

TEST_CASE("headers come along, and take the place of ours") {
    const Sent posted = sent({.method = "POST",
                              .headers = {{"authorization", "Bearer t"},
                                          {"Content-Type", "text/plain"},
                                          {"X-Signature", "sha256=00"}}},
                             "u:p@");
    for (const char* const line : {"authorization: Bearer t\r\n", "Content-Type: text/plain\r\n",
                                   "X-Signature: sha256=00\r\n"}) {
        CAPTURE(line);
        CHECK(posted.head.find(line) != std::string::npos);
    }
    CHECK(posted.head.find("Basic") == std::string::npos);
    CHECK(posted.head.find("Accept: application/json\r\n") != std::string::npos);
    CHECK(posted.head.find("Content-Type: application/json") == std::string::npos);
}

TEST_CASE("what would end a line or frame the request otherwise is not sent") {
    HttpStub stub(always(support::http(200, "")));
    Client client(url(stub.url()), 100, nullptr);
    const std::vector<Headers> wrong{
        {{"X", "a\r\nY: b"}},
        {{"X", std::string("a\0", 2)}},
        {{"X: Y", "a"}},
        {{"", "a"}},
        {{"X ", "a"}},
        {{"Host", "other"}},
        {{"content-length", "5"}},
        {{"Transfer-Encoding", "chunked"}},
        {{"Connection", "close"}},
        {{"Proxy-Authorization", "Basic dTpw"}},
    };
    for (const Headers& headers : wrong) {
        CAPTURE(headers.front().first);
        CHECK(kind_of(client.exchange({.method = "GET", .headers = headers}, ample)) == "unsent");
    }
    for (const char* const target : {"/a b", "/a\r\nX: y", "/a\n", "/ "}) {
        CHECK(kind_of(client.exchange({.method = "GET", .target = target}, ample)) == "unsent");
    }
    CHECK(stub.count() == 0);
}

TEST_CASE("a request that is passed on gets nothing of ours, and its answer keeps its fields") {
    HttpStub stub(always(support::http(207, "x", "Retry-After: 3\r\nX-A: 1\r\nx-a: 2\r\n")));
    Client client(url(stub.url()), 100, nullptr);
    const Headers headers{{"X-Tab", "a\tb"}, {"Accept", "text/plain"}};
    // The last: the stub sends its body all the same.
    for (const char* const method : {"POST", "GET", "OPTIONS", "BREW", "HEAD"}) {
        CAPTURE(method);
        const ClientResult result = client.exchange(
            {.method = method, .target = "/a", .headers = headers, .passed_on = true}, ample);
        REQUIRE(kind_of(result) == "response");
        const auto& response = std::get<ClientResponse>(result);
        CHECK(response.headers ==
              Headers{{"Content-Length", "1"}, {"Retry-After", "3"}, {"X-A", "1"}, {"x-a", "2"}});
        CHECK(response.body == (method == std::string("HEAD") ? "" : "x"));
        std::string head = stub.requests().back().head;
        head.erase(0, head.find("\r\n") + 2);
        head.erase(0, head.find("\r\n") + 2);
        const bool has_length = method != std::string("GET") && method != std::string("HEAD");
        CHECK(head == std::string("Accept-Encoding: identity\r\nX-Tab: a\tb\r\n"
                                  "Accept: text/plain\r\n") +
                          (has_length ? "Content-Length: 0\r\n" : ""));
    }
    const ClientResult own = client.exchange({.method = "GET"}, ample);
    REQUIRE(kind_of(own) == "response");
    CHECK(std::get<ClientResponse>(own).headers.empty());
}

TEST_CASE("one exchange ends early, and takes no other along") {
    HttpStub stub([](StubPeer& peer, const StubRequest& request) {
        if (request.number == 2) return peer.send(support::http(200, ""));
        peer.hang();
        return false;
    });
    std::promise<ClientResult> first;
    std::promise<ClientResult> second;
    std::function<void()> cancel;
    {
        Client client(url(stub.url()), 100, nullptr);
        const ClientRequest request{.method = "GET"};
        cancel = client.start(request, ample,
                              [&](ClientResult result) { first.set_value(std::move(result)); });
        REQUIRE(stub.await(1));
        const auto cancel_second = client.start(
            request, ample, [&](ClientResult result) { second.set_value(std::move(result)); });
        cancel();
        CHECK(kind_of(first.get_future().get()) == "lost");
        CHECK(kind_of(second.get_future().get()) == "response");
        cancel_second();  // it is over
        cancel();
        CHECK(kind_of(client.exchange({.method = "GET", .repeatable = true}, 1ms)) != "response");
    }
    cancel();  // so is everything
}

// Four requests at a time, or none is answered; to `/hang` none ever.
class FourAtOnce {
public:
    [[nodiscard]] HttpStub::Script script() {
        return [this](StubPeer& peer, const StubRequest& request) {
            if (request.line() == "GET /hang") {
                peer.hang();
                return false;
            }
            const int round = waiting_++ / 4;
            while (waiting_ < 4 * (round + 1)) std::this_thread::yield();
            return peer.send(support::http(200, ""));
        };
    }
    static void ask(Client& client) {
        std::vector<std::promise<ClientResult>> answers(4);
        for (auto& answer : answers) {
            client.send({.method = "GET"}, ample,
                        [&](ClientResult result) { answer.set_value(std::move(result)); });
        }
        for (auto& answer : answers) CHECK(kind_of(answer.get_future().get()) == "response");
    }

private:
    std::atomic<int> waiting_{0};
};

TEST_CASE("as many idle connections are kept as allowed") {
    FourAtOnce four;
    HttpStub stub(four.script());
    Client client(url(stub.url()), 100, nullptr, {}, 3);
    FourAtOnce::ask(client);
    CHECK(stub.connections() == 4);
    FourAtOnce::ask(client);
    CHECK(stub.connections() == 5);
}

TEST_CASE("an exchange that ends early on an idle connection leaves the others") {
    FourAtOnce four;
    HttpStub stub(four.script());
    Client client(url(stub.url()), 100, nullptr);
    FourAtOnce::ask(client);
    std::promise<ClientResult> hanging;
    const ClientRequest request{.method = "GET", .target = "/hang", .repeatable = true};
    const auto cancel = client.start(
        request, ample, [&](ClientResult result) { hanging.set_value(std::move(result)); });
    REQUIRE(stub.await(5));
    cancel();
    CHECK(kind_of(hanging.get_future().get()) == "lost");
    CHECK(stub.count() == 5);
    FourAtOnce::ask(client);
    CHECK(stub.connections() == 5);
}

TEST_CASE("an exchange may allow a larger answer than its client") {
    HttpStub stub(always(support::http(200, std::string(200, 'x'))));
    Client client(url(stub.url()), 100, nullptr);
    CHECK(kind_of(client.exchange({.method = "GET"}, ample)) == "garbled");
    CHECK(kind_of(client.exchange({.method = "GET", .response_bytes_max = 199}, ample)) ==
          "garbled");
    CHECK(kind_of(client.exchange({.method = "GET", .response_bytes_max = 200}, ample)) ==
          "response");
}

TEST_CASE("what is not repeatable is not repeated on an idle connection that died") {
    HttpStub stub([](StubPeer& peer, const StubRequest& request) {
        if (request.number != 2) peer.send(support::http(200, ""));
        return request.number != 2;
    });
    Client client(url(stub.url()), 100, nullptr);
    const ClientRequest once{.method = "POST", .body = "{}"};
    CHECK(kind_of(client.exchange(once, ample)) == "response");
    CHECK(kind_of(client.exchange(once, ample)) == "lost");
    CHECK(stub.count() == 2);
}

TEST_CASE("an answer to a request nobody made ends an idle connection") {
    // As servers say farewell with 408.
    HttpStub stub([](StubPeer& peer, const StubRequest& request) {
        peer.send(support::http(200, std::to_string(request.number)));
        if (request.number == 1) peer.send(support::http(408, "late"));
        return true;
    });
    Client client(url(stub.url()), 100, nullptr);
    const auto body = [&] {
        return std::get<ClientResponse>(client.exchange({.method = "GET"}, ample)).body;
    };
    CHECK(body() == "1");
    std::this_thread::sleep_for(50ms);
    CHECK(body() == "2");
    CHECK(stub.connections() == 2);
}

TEST_CASE("without a thread that waits: the answer comes to a function") {
    HttpStub stub(HttpStub::answering(
        [](const StubRequest& request) { return support::http(200, request.body.dump()); }));
    Client client(url(stub.url()), 100, nullptr);
    std::vector<std::future<ClientResult>> answers;
    for (int number = 0; number < 20; ++number) {
        const auto answered = std::make_shared<std::promise<ClientResult>>();
        answers.push_back(answered->get_future());
        client.post("[" + std::to_string(number) + "]", false, ample,
                    [answered](ClientResult result) { answered->set_value(std::move(result)); });
    }
    for (int number = 0; number < 20; ++number) {
        const ClientResult result = answers.at(static_cast<std::size_t>(number)).get();
        REQUIRE(kind_of(result) == "response");
        CHECK(std::get<ClientResponse>(result).body == "[" + std::to_string(number) + "]");
    }
}

TEST_CASE("that a request is written is told before its answer, and never of one that is not") {
    std::promise<void> is_written;
    auto written = is_written.get_future();
    HttpStub stub([&written](StubPeer& peer, const StubRequest&) {
        const bool told = written.wait_for(ample) == std::future_status::ready;
        return peer.send(support::http(200, told ? "told" : "not told"));
    });
    Client client(url(stub.url()), 100, nullptr);
    const ClientRequest request{
        .method = "POST", .body = "{}", .written = [&is_written] { is_written.set_value(); }};
    CHECK(std::get<ClientResponse>(client.exchange(request, ample)).body == "told");

    Client nobody(url("http://127.0.0.1:1"), 100, nullptr);
    int told = 0;
    const ClientRequest lost{.method = "POST", .body = "{}", .written = [&told] { ++told; }};
    CHECK(kind_of(nobody.exchange(lost, ample)) == "unsent");
    CHECK(told == 0);
}

TEST_CASE("stop ends all exchanges and returns when the last function has returned") {
    HttpStub stub(hanging());
    Client client(url(stub.url()), 100, nullptr);
    std::atomic<int> stopped{0};
    for (int number = 0; number < 20; ++number) {
        client.post("{}", false, ample, [&stopped](const ClientResult& result) {
            std::this_thread::sleep_for(1ms);
            if (kind_of(result) == "stopped") ++stopped;
        });
    }
    REQUIRE(stub.await(20));
    const auto begin = std::chrono::steady_clock::now();
    client.stop();
    CHECK(stopped == 20);
    CHECK(std::chrono::steady_clock::now() - begin < 1s);
    CHECK(client.is_stopped());
    client.post("{}", false, ample, [&stopped](const ClientResult&) { ++stopped; });
    CHECK(stopped == 21);
    CHECK(kind_of(client.exchange({.method = "GET"}, ample)) == "stopped");
}

TEST_CASE("clients may share a thread and go before each other") {
    const auto context = std::make_shared<ClientContext>();
    HttpStub silent(hanging());
    HttpStub stub(always(support::http(200, "fine")));
    auto first = std::make_unique<Client>(url(silent.url()), 100, context);
    Client second(url(stub.url()), 100, context);
    std::atomic<bool> ended{false};
    first->post("{}", false, ample, [&ended](const ClientResult&) { ended = true; });
    REQUIRE(silent.await(1));
    CHECK(kind_of(second.exchange({.method = "GET"}, ample)) == "response");
    first.reset();
    CHECK(ended);
    CHECK(kind_of(second.exchange({.method = "GET"}, ample)) == "response");
    CHECK(stub.connections() == 1);
}

TEST_CASE("a client may be stopped by its own answer") {
    HttpStub stub(always(support::http(200, "")));
    Client client(url(stub.url()), 100, nullptr);
    std::promise<void> over;
    client.post("{}", false, ample, [&](const ClientResult&) {
        client.stop();
        over.set_value();
    });
    over.get_future().get();
    CHECK(client.is_stopped());
}

}  // namespace
}  // namespace net
