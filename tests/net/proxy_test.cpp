#include "net/proxy.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "net/certificate.hpp"
#include "net/client.hpp"
#include "net/websocket.hpp"
#include "support/http_stub.hpp"
#include "support/proxy_stub.hpp"
#include "support/websocket_stub.hpp"

namespace net {
namespace {

using namespace std::chrono_literals;
using support::HttpStub;
using support::ProxyStub;
using support::StubPeer;
using support::StubRequest;
using Environment = std::vector<std::pair<std::string, std::string>>;

Url url(const std::string& text) {
    return parse_url(text).value();
}

// The port of the proxy that is asked, 0: none.
int port_for(const Environment& environment, const std::string& text) {
    const Proxies proxies = Proxies::from_environment(environment);
    const Url* const proxy = proxies.proxy_for(url(text));
    return proxy == nullptr ? 0 : proxy->port;
}

TEST_CASE("each scheme has its variable, in two spellings") {
    const Environment both{{"HTTPS_PROXY", "http://proxy:1"}, {"HTTP_PROXY", "http://proxy:2"}};
    CHECK(port_for(both, "https://node.example") == 1);
    CHECK(port_for(both, "wss://node.example") == 1);
    CHECK(port_for(both, "http://node.example") == 2);
    CHECK(port_for(both, "ws://node.example") == 2);
    CHECK(port_for({{"HTTP_PROXY", "http://proxy:2"}}, "https://node.example") == 0);
    CHECK(port_for({{"HTTPS_PROXY", "http://proxy:1"}}, "http://node.example") == 0);
    CHECK(port_for({{"HTTP_PROXY", "http://proxy:2"}, {"http_proxy", "http://proxy:3"}},
                   "http://node.example") == 3);
    CHECK(port_for({{"HTTP_PROXY", "http://proxy:2"}, {"http_proxy", ""}}, "http://node.example") ==
          2);
    CHECK(port_for({{"https_proxy", "proxy:4"}}, "https://node.example") == 4);
    CHECK(port_for({{"https_proxy", "http://proxy/"}}, "https://node.example") == 80);
    CHECK(port_for({}, "https://node.example") == 0);
    CHECK(port_for({{"Http_Proxy", "http://proxy:1"}}, "http://node.example") == 0);
}

TEST_CASE("what is on this machine or this link is asked directly") {
    const Environment environment{{"HTTP_PROXY", "http://proxy:1"}};
    for (const char* const host :
         {"localhost", "LocalHost", "node.localhost", "127.0.0.1", "127.1.2.3", "[::1]", "0.0.0.0",
          "169.254.1.2", "[fe80::1]", "[::ffff:127.0.0.1]", "[::]"}) {
        CAPTURE(host);
        CHECK(port_for(environment, std::string("http://") + host + ":8545") == 0);
    }
    for (const char* const host : {"localhost.example", "mylocalhost", "128.0.0.1", "169.253.1.2",
                                   "10.0.0.1", "[2001:db8::1]"}) {
        CAPTURE(host);
        CHECK(port_for(environment, std::string("http://") + host + ":8545") == 1);
    }
}

TEST_CASE("NO_PROXY names what is asked directly") {
    struct Row {
        const char* list;
        const char* url;
        bool direct;
    };
    for (const Row& row : std::vector<Row>{
             {"*", "http://node.example", true},
             {"node.example", "http://node.example", true},
             {"NODE.example", "http://node.EXAMPLE", true},
             {"node.example", "http://node.example.", true},
             {"example", "http://node.example", true},
             {".example", "http://node.example", true},
             {".node.example", "http://node.example", true},
             {"ode.example", "http://node.example", false},
             {"node.example", "http://node.example.org", false},
             {"node.example", "http://example", false},
             {"other, node.example", "http://node.example", true},
             {" a,,b node.example ", "http://node.example", true},
             {"node.example:8545", "http://node.example:8545", true},
             {"node.example:8545", "http://node.example:8546", false},
             {"node.example:80", "http://node.example", true},
             {"example:8545", "http://node.example:8545", true},
             {"10.1.2.3", "http://10.1.2.3", true},
             {"10.1.2.3", "http://10.1.2.4", false},
             {"10.1.2.3:8545", "http://10.1.2.3:8545", true},
             {"10.1.2.3:8545", "http://10.1.2.3", false},
             {"2.3", "http://10.1.2.3", false},
             {"10.0.0.0/8", "http://10.1.2.3", true},
             {"10.0.0.0/8", "http://11.1.2.3", false},
             {"10.1.2.0/23", "http://10.1.3.255", true},
             {"10.1.2.0/23", "http://10.1.4.0", false},
             {"0.0.0.0/0", "http://11.1.2.3", true},
             {"10.0.0.0/33", "http://10.0.0.0", false},
             {"10.0.0.0/x", "http://10.0.0.0", false},
             {"2001:db8::1", "http://[2001:db8::1]", true},
             {"[2001:db8::1]", "http://[2001:db8:0::1]", true},
             {"[2001:db8::1]:8545", "http://[2001:db8::1]:8545", true},
             {"[2001:db8::1]:8545", "http://[2001:db8::1]", false},
             {"2001:db8::/32", "http://[2001:db8:5::1]", true},
             {"2001:db8::/32", "http://[2001:db9::1]", false},
             {"10.0.0.0/8", "http://[2001:db8::1]", false},
             {"", "http://node.example", false},
             {".", "http://node.example", false},
             {",", "http://node.example", false},
         }) {
        CAPTURE(row.list);
        CAPTURE(row.url);
        CHECK(port_for({{"HTTP_PROXY", "http://proxy:1"}, {"NO_PROXY", row.list}}, row.url) ==
              (row.direct ? 0 : 1));
    }
}

TEST_CASE("a proxy that is no URL is refused by the name of its variable alone") {
    for (const char* const value :
         {"socks5://u:s3cret@proxy:1", "https://u:s3cret@proxy", "http://u:s3cret@proxy:x",
          "http://u:s3cret@proxy/path", "ftp://s3cret", "s3cret s3cret", "http://"}) {
        CAPTURE(value);
        for (const char* const name : {"HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"}) {
            try {
                static_cast<void>(Proxies::from_environment({{name, value}}));
                FAIL("taken");
            } catch (const std::invalid_argument& error) {
                const std::string text = error.what();
                CHECK(text.starts_with(std::string(name) + ": "));
                CHECK(text.find("s3cret") == std::string::npos);
            }
        }
    }
}

std::shared_ptr<ClientContext> behind(const std::string& proxy) {
    return std::make_shared<ClientContext>(
        Proxies::from_environment({{"HTTP_PROXY", proxy}, {"HTTPS_PROXY", proxy}}));
}

std::string body_of(const ClientResult& result) {
    if (const auto* const error = std::get_if<TransportError>(&result)) return error->text;
    return std::get<ClientResponse>(result).body;
}

TEST_CASE("http goes to the proxy with the whole URL, and the connection is kept") {
    HttpStub proxy(HttpStub::answering([](const StubRequest&) { return support::http(200, "!"); }));
    Client client(url("http://u:p@node.example:8545/base?key=1"), 100,
                  behind(proxy.url("us%40er:s3cret@127.0.0.1", "")));
    for (int round = 0; round < 2; ++round) {
        CHECK(body_of(client.exchange({.method = "GET", .target = "/x"}, 10s)) == "!");
    }
    CHECK(proxy.connections() == 1);
    const std::string head = proxy.requests().front().head;
    CHECK(head.starts_with(
        "GET http://node.example:8545/base/x?key=1 HTTP/1.1\r\nHost: node.example:8545\r\n"
        "Proxy-Authorization: Basic dXNAZXI6czNjcmV0\r\nAuthorization: Basic dTpw\r\n"));
}

TEST_CASE("https goes through a tunnel of the proxy, to the server that has the certificate") {
    const PemFolder folder;
    folder.write_pair("node.pem", "node.key", "node.example");
    HttpStub stub(HttpStub::answering([](const StubRequest&) { return support::http(200, "!"); }),
                  {folder.file("node.pem"), folder.file("node.key")});
    ProxyStub proxy(stub.server().port());
    ::setenv("SSL_CERT_FILE", folder.file("node.pem").c_str(), 1);
    Client client(url("https://node.example/path"), 100, behind(proxy.url("us%40er:s3cret@")));
    for (int round = 0; round < 2; ++round) {
        CHECK(body_of(client.exchange({.method = "GET"}, 10s)) == "!");
    }
    Client other(url("https://other.example"), 100, behind(proxy.url()));
    CHECK(body_of(other.exchange({.method = "GET"}, 10s)) == "certificate not trusted");
    ::unsetenv("SSL_CERT_FILE");
    REQUIRE(proxy.heads().size() == 2);
    CHECK(proxy.heads().front() ==
          "CONNECT node.example:443 HTTP/1.1\r\nHost: node.example:443\r\n"
          "User-Agent: posthouse\r\nProxy-Authorization: Basic dXNAZXI6czNjcmV0\r\n\r\n");
    CHECK(proxy.heads().back().find("Proxy-Authorization") == std::string::npos);
    const std::string head = stub.requests().front().head;
    CHECK(head.starts_with("GET /path HTTP/1.1\r\nHost: node.example\r\n"));
    CHECK(head.find("Proxy") == std::string::npos);
}

TEST_CASE("a WebSocket goes through a tunnel too") {
    support::StubServer server([](StubPeer& peer) {
        support::WebSocketPeer socket(peer);
        socket.shake_hands(support::WebSocketPeer::frame(0x81, "hello"));
        peer.hang();
    });
    ProxyStub proxy(server.port());
    WebSocket socket(url("ws://node.example/ws"), {}, behind(proxy.url()));
    REQUIRE(std::holds_alternative<std::monostate>(socket.open()));
    const auto received = socket.receive(std::chrono::steady_clock::now() + 5s);
    REQUIRE(std::holds_alternative<std::string>(received));
    CHECK(std::get<std::string>(received) == "hello");
    CHECK(proxy.heads().front().starts_with("CONNECT node.example:80 HTTP/1.1\r\n"));
}

TEST_CASE("a proxy that fails has sent nothing, and its password is in no text") {
    struct Row {
        const char* label;
        std::string answer;
        std::string text;
    };
    for (const Row& row : std::vector<Row>{
             {"wants a password", support::http(407, "s3cret"), "proxy: HTTP 407"},
             {"can not reach it", support::http(502, ""), "proxy: HTTP 502"},
             {"talks nonsense", "SSH-2.0-OpenSSH_9.2\r\n", "proxy: no HTTP"},
             {"says more than asked", "HTTP/1.1 200 OK\r\n\r\nforged", "proxy: no HTTP"},
             {"leaves", "HTTP/1.1 200", "proxy: no HTTP"},
         }) {
        CAPTURE(row.label);
        ProxyStub proxy(1, row.answer);
        Client client(url("https://node.example"), 100, behind(proxy.url("u:s3cret@")));
        const ClientResult result = client.exchange({.method = "POST"}, 10s);
        REQUIRE(std::holds_alternative<TransportError>(result));
        CHECK(std::get<TransportError>(result).kind == TransportError::Kind::unsent);
        CHECK(body_of(result) == row.text);
    }
    Client nobody(url("http://node.example"), 100,
                  behind("http://u:s3cret@127.0.0.1:" + std::to_string(support::deserted_port())));
    CHECK(body_of(nobody.exchange({.method = "GET"}, 10s)) == "proxy: connection refused");
    Client unknown(url("http://node.example"), 100, behind("http://u:s3cret@posthouse.invalid"));
    const std::string text = body_of(unknown.exchange({.method = "GET"}, 2s));
    CHECK((text == "proxy: name not found" || text == "proxy: no name look-up in time"));
}

TEST_CASE("a proxy that hangs is given up in time, and at once by a stop") {
    support::StubServer silent([](StubPeer& peer) { peer.hang(); });
    const std::string proxy = "http://127.0.0.1:" + std::to_string(silent.port());
    Client client(url("https://node.example"), 100, behind(proxy));
    CHECK(body_of(client.exchange({.method = "GET"}, 200ms)) == "proxy: no answer in time");
    std::string text;
    {
        const std::jthread asking([&] { text = body_of(client.exchange({.method = "GET"}, 60s)); });
        while (silent.connections() < 2) std::this_thread::yield();
        client.stop();
    }
    CHECK(text == "stopped");
}

}  // namespace
}  // namespace net
