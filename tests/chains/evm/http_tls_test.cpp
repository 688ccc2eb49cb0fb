#include <doctest/doctest.h>

#include <string>

#include "chains/evm/http_harness.hpp"
#include "net/certificate.hpp"

namespace support {
namespace {

TEST_CASE("https needs a certificate that is trusted and for that host") {
    const net::PemFolder folder;
    folder.write_pair("node.pem", "node.key", "localhost");
    folder.write_pair("other.pem", "other.key", "elsewhere.example");
    const StubServer::Certificate certificate{folder.file("node.pem"), folder.file("node.key")};
    HttpStub stub(HttpStub::answering([](const StubRequest& r) { return http_result(r, 7); }),
                  certificate);
    struct Row {
        const char* label;
        const char* trusted;
        const char* host;
        const char* kind;
        const char* text;
    };
    for (const Row& row : {
             Row{"trusted", "node.pem", "localhost", "json", "7"},
             Row{"of nobody we know", "other.pem", "localhost", "unsent",
                 "certificate not trusted"},
             Row{"for another name", "node.pem", "127.0.0.1", "unsent", "certificate not trusted"},
         }) {
        CAPTURE(row.label);
        const TrustedFile trusted(folder.file(row.trusted));
        HttpHarness harness({stub.url(row.host)});
        for (int round = 0; round < 2; ++round) {
            const auto answer = harness.call();
            CHECK(kind_of(answer) == row.kind);
            CHECK(text_of(answer) == row.text);
        }
    }
    CHECK(stub.count() == 2);
    CHECK(stub.connections() == 5);  // the good one was kept
}

TEST_CASE("a certificate may be for an address") {
    const net::PemFolder folder;
    folder.write_pair("node.pem", "node.key", "node", {}, "IP:127.0.0.1");
    const TrustedFile trusted(folder.file("node.pem"));
    HttpStub stub(HttpStub::answering([](const StubRequest& r) { return http_result(r, 7); }),
                  {folder.file("node.pem"), folder.file("node.key")});
    CHECK(text_of(HttpHarness({stub.url("127.0.0.1")}).call()) == "7");
    CHECK(text_of(HttpHarness({stub.url("localhost")}).call()) == "certificate not trusted");
}

TEST_CASE("TLS below 1.2 is none") {
    const net::PemFolder folder;
    folder.write_pair("node.pem", "node.key", "localhost");
    const TrustedFile trusted(folder.file("node.pem"));
    HttpStub stub(HttpStub::answering([](const StubRequest& r) { return http_result(r, 7); }),
                  {folder.file("node.pem"), folder.file("node.key")});
    stub.server().limit_tls(TLS1_1_VERSION);
    CHECK(text_of(HttpHarness({stub.url("localhost")}).call()) == "TLS failed");
    stub.server().limit_tls(TLS1_2_VERSION);
    CHECK(text_of(HttpHarness({stub.url("localhost")}).call()) == "7");
}

TEST_CASE("a large answer comes whole over TLS, a dripping one not for ever") {
    const net::PemFolder folder;
    folder.write_pair("node.pem", "node.key", "localhost");
    const TrustedFile trusted(folder.file("node.pem"));
    const std::string large(3'900, 'x');
    HttpStub stub(
        [&](StubPeer& peer, const StubRequest& request) {
            if (request.number == 1) return peer.send(http_result(request, large));
            peer.drip(http_result(request, large));
            return false;
        },
        {folder.file("node.pem"), folder.file("node.key")});
    HttpHarness harness({stub.url("localhost")});
    CHECK(text_of(harness.call()).size() == large.size() + 2);
    CHECK(kind_of(harness.node.call(chain_id, patience)) == "timed_out");
}

TEST_CASE("a URL that fails three times in a row is avoided for 5 s while another works") {
    const net::PemFolder folder;
    folder.write_pair("node.pem", "node.key", "localhost");
    const TrustedFile trusted(folder.file("node.pem"));
    const auto always = [](const char* result) {
        return HttpStub::answering([=](const StubRequest& r) { return http_result(r, result); });
    };
    HttpStub first(always("first"), {folder.file("node.pem"), folder.file("node.key")});
    HttpStub second(always("second"));
    HttpHarness harness({first.url("localhost"), second.url()});
    first.server().break_tls(true);
    for (int round = 0; round < 6; ++round) CHECK(text_of(harness.call()) == "\"second\"");
    CHECK(first.connections() == 3);

    harness.clock.advance(std::chrono::seconds{5});
    for (int round = 0; round < 3; ++round) CHECK(text_of(harness.call()) == "\"second\"");
    CHECK(first.connections() == 4);  // one look

    first.server().break_tls(false);
    harness.clock.advance(std::chrono::milliseconds{4'999});
    CHECK(text_of(harness.call()) == "\"second\"");
    harness.clock.advance(std::chrono::milliseconds{1});
    for (int round = 0; round < 3; ++round) CHECK(text_of(harness.call()) == "\"first\"");
}

}  // namespace
}  // namespace support
