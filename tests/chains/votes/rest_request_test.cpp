#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "chains/jsonrpc/endpoint.hpp"
#include "chains/jsonrpc/http_request.hpp"
#include "chains/votes/rest_harness.hpp"

// The bytes of a request.
namespace support {
namespace {

using chains::jsonrpc::Endpoint;
using chains::jsonrpc::HttpRequest;
using chains::jsonrpc::write_http;

using Headers = std::vector<std::pair<std::string, std::string>>;

chains::jsonrpc::Url url(const std::string& text) {
    return chains::jsonrpc::parse_url(text).value();
}

TEST_CASE("a GET and a POST in full") {
    CHECK(write_http({.method = "GET", .target = "/a?b=c", .body = "not sent"},
                     url("https://u:p@node.example/base/?key=1")) ==
          "GET /base/a?b=c&key=1 HTTP/1.1\r\nHost: node.example\r\nAuthorization: Basic dTpw\r\n"
          "User-Agent: posthouse\r\nAccept: application/json\r\nAccept-Encoding: identity\r\n\r\n");
    CHECK(write_http({.method = "POST", .body = "{}"}, url("http://node.example:81/base/?key=1")) ==
          "POST /base/?key=1 HTTP/1.1\r\nHost: node.example:81\r\nUser-Agent: posthouse\r\n"
          "Content-Type: application/json\r\nAccept: application/json\r\n"
          "Accept-Encoding: identity\r\nContent-Length: 2\r\n\r\n{}");
    CHECK(write_http({.method = "POST", .target = "/x"}, url("http://h"))
              ->find("POST /x HTTP/1.1\r\n") == 0);
    CHECK(write_http({.method = "POST", .target = "/x"}, url("http://h"))
              ->find("Content-Length: 0\r\n") != std::string::npos);
}

TEST_CASE("headers come along, and take the place of ours") {
    const auto text = write_http({.method = "POST",
                                  .headers = {{"authorization", "Bearer t"},
                                              {"Content-Type", "text/plain"},
                                              {"X-Signature", "sha256=00"}}},
                                 url("http://u:p@h/"));
    REQUIRE(text);
    for (const char* const line : {"authorization: Bearer t\r\n", "Content-Type: text/plain\r\n",
                                   "X-Signature: sha256=00\r\n"}) {
        CAPTURE(line);
        CHECK(text->find(line) != std::string::npos);
    }
    CHECK(text->find("Basic") == std::string::npos);
    CHECK(text->find("application/json\r\nAccept-Encoding") != std::string::npos);
    CHECK(text->find("Content-Type: application/json") == std::string::npos);
}

TEST_CASE("what would end a line or frame the request otherwise is not sent") {
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
    };
    for (const Headers& headers : wrong) {
        CAPTURE(headers.front().first);
        CHECK(!write_http({.method = "GET", .headers = headers}, url("http://h")));
    }
    for (const char* const target : {"/a b", "/a\r\nX: y", "/a\n"}) {
        CHECK(!write_http({.method = "GET", .target = target}, url("http://h")));
    }

    HttpStub stub(HttpStub::answering([](const StubRequest&) { return http(200, ""); }));
    Endpoint endpoint(url(stub.url()), nullptr, 100);
    const chains::jsonrpc::Signal stop;
    const auto posted = endpoint.exchange({.method = "GET", .target = "/ "}, ample, stop);
    REQUIRE(std::holds_alternative<chains::jsonrpc::Trouble>(posted));
    CHECK(std::get<chains::jsonrpc::Trouble>(posted).kind == chains::jsonrpc::Trouble::Kind::unsent);
    CHECK(stub.count() == 0);
}

TEST_CASE("an exchange may allow a larger answer than its endpoint") {
    HttpStub stub(
        HttpStub::answering([](const StubRequest&) { return http(200, std::string(200, 'x')); }));
    Endpoint endpoint(url(stub.url()), nullptr, 100);
    const chains::jsonrpc::Signal stop;
    const auto status = [&](const HttpRequest& request) {
        const auto posted = endpoint.exchange(request, ample, stop);
        const auto* const response = std::get_if<chains::jsonrpc::HttpResponse>(&posted);
        return response == nullptr ? 0 : response->status;
    };
    CHECK(status({.method = "GET"}) == 0);
    CHECK(status({.method = "GET", .response_bytes_max = 199}) == 0);
    CHECK(status({.method = "GET", .response_bytes_max = 200}) == 200);
}

TEST_CASE("what is not repeatable is not repeated on an idle connection that died") {
    HttpStub stub([](StubPeer& peer, const StubRequest& request) {
        if (request.number != 2) peer.send(http(200, ""));
        return request.number != 2;
    });
    Endpoint endpoint(url(stub.url()), nullptr, 100);
    const chains::jsonrpc::Signal stop;
    const HttpRequest once{.method = "POST", .body = "{}"};
    CHECK(std::holds_alternative<chains::jsonrpc::HttpResponse>(endpoint.exchange(once, ample, stop)));
    CHECK(std::holds_alternative<chains::jsonrpc::Trouble>(endpoint.exchange(once, ample, stop)));
    CHECK(stub.count() == 2);
}

}  // namespace
}  // namespace support
