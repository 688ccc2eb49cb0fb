#include "net/url.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace net {
namespace {

TEST_CASE("a URL is taken apart") {
    struct Row {
        const char* text;
        const char* host;
        std::uint16_t port;
        const char* target;
        const char* authority;
        const char* credentials;
    };
    for (const Row& row : {
             Row{"http://node", "node", 80, "/", "node", ""},
             Row{"HTTPS://node/", "node", 443, "/", "node", ""},
             Row{"http://node:8545/a/b?c=d#e", "node", 8545, "/a/b?c=d", "node:8545", ""},
             Row{"http://node?c=d", "node", 80, "/?c=d", "node", ""},
             Row{"ws://node:80/", "node", 80, "/", "node", ""},
             Row{"wss://node", "node", 443, "/", "node", ""},
             Row{"http://node:/", "node", 80, "/", "node", ""},
             Row{"http://[::1]:8545", "::1", 8545, "/", "[::1]:8545", ""},
             Row{"https://[2001:db8::a]/x", "2001:db8::a", 443, "/x", "[2001:db8::a]", ""},
             Row{"http://u:p@node", "node", 80, "/", "node", "u:p"},
             Row{"http://u%3a:p@%40@[::1]:1/", "::1", 1, "/", "[::1]:1", "u::p@@"},
         }) {
        CAPTURE(row.text);
        const auto url = parse_url(row.text);
        REQUIRE(url);
        CHECK(url->host == row.host);
        CHECK(url->port == row.port);
        CHECK(url->target == row.target);
        CHECK(url->authority() == row.authority);
        CHECK(url->credentials == row.credentials);
    }
}

TEST_CASE("what is no URL is refused") {
    for (const char* const text : {"",
                                   "node",
                                   "node:8545",
                                   "//node",
                                   "ftp://node",
                                   "http:/node",
                                   "http://",
                                   "http:///x",
                                   "http://:80",
                                   "http://node:0",
                                   "http://node:65536",
                                   "http://node:x",
                                   "http://[::1",
                                   "http://[::1]x",
                                   "http://node:80:80",
                                   "http://a b/",
                                   "http://node/\r\nX: y",
                                   "http://u%zz@node",
                                   "http://u%4@node",
                                   "http://n\xc3\xa9/"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_url(text));
    }
}

TEST_CASE("what may be a key is secret as it is sent and as a server may say it back") {
    using Secrets = std::vector<std::string>;
    struct Row {
        const char* text;
        Secrets secrets;
    };
    for (const Row& row : {
             Row{"http://n/four/k=v", {}},
             Row{"http://node1/a%2Bbcde?k=x%3Dyzzzz",
                 {"x%3Dyzzzz", "a%2Bbcde", "x=yzzzz", "a+bcde", "node1"}},
             Row{"http://n/%61%62%63/%zzzz", {"%61%62%63", "%zzzz"}},
             Row{"http://user2:p%40ss@n", {"dXNlcjI6cEBzcw", "user2", "p@ss"}},
             Row{"http://u:k3@n", {"dTprMw"}},
         }) {
        CAPTURE(row.text);
        const auto url = parse_url(row.text);
        REQUIRE(url);
        CHECK(url->secrets() == row.secrets);
    }
}

TEST_CASE("a token is a secret in its place by length, and without one nothing is added") {
    using Secrets = std::vector<std::string>;
    const Secrets parts{"a-long-part", "short"};
    CHECK(net::with_token(parts, "") == parts);
    CHECK(net::with_token(parts, "a-longer-token") ==
          Secrets{"a-longer-token", "a-long-part", "short"});
    CHECK(net::with_token(parts, "middle") == Secrets{"a-long-part", "middle", "short"});
    CHECK(net::with_token(parts, "x") == Secrets{"a-long-part", "short", "x"});
}

TEST_CASE("a subscription's node is read over HTTP") {
    CHECK(over_http("ws://u:p@node:8546/x?y") == "http://u:p@node:8546/x?y");
    CHECK(over_http("WSS://node") == "https://node");
    CHECK(over_http("https://node") == "https://node");
    CHECK(over_http("nonsense") == "nonsense");
}

}  // namespace
}  // namespace net
