#include <doctest/doctest.h>

#include <chrono>
#include <deque>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "net/certificate.hpp"
#include "net/echo_application.hpp"
#include "net/http_server.hpp"
#include "net/tls_client.hpp"

namespace net {
namespace {

using namespace std::chrono_literals;

struct Certified {
    Certified() { pem.write_pair("cert.pem", "key.pem", "first"); }

    PemFolder pem;
};

struct Service : Certified {
    explicit Service(HttpOptions options = {}) : server(complete(std::move(options)), application) {
        server.start();
    }
    ~Service() { application.open(); }

    HttpOptions complete(HttpOptions options) const {
        options.port = 0;
        options.workers = 4;
        options.tls_certificate_file = pem.file("cert.pem");
        options.tls_key_file = pem.file("key.pem");
        return options;
    }

    int port() const { return server.port(); }
    void wait_for_connections(std::size_t count) {
        while (server.counts().connections != count) std::this_thread::yield();
    }

    EchoApplication application;
    HttpServer server;
};

struct Client : TlsClient {
    explicit Client(int port, const TlsClientOptions& options = {}, int receive_buffer = 0)
        : TlsClient(port, options, receive_buffer) {
        REQUIRE(shake_hands());
    }
};

TEST_CASE("one secured connection carries many requests") {
    Service service;
    struct Row {
        int version_max;
        std::string version;
    };
    for (const auto& row : {Row{TLS1_3_VERSION, "TLSv1.3"}, Row{TLS1_2_VERSION, "TLSv1.2"}}) {
        CAPTURE(row.version);
        Client client(service.port(), {.version_max = row.version_max});
        CHECK(client.version() == row.version);
        CHECK(client.protocol() == "http/1.1");
        CHECK(client.certificate_name() == "first");
        for (int round = 0; round < 200; ++round) {
            const auto answer = client.ask(post("/v2/x?n=" + std::to_string(round), "{}"));
            REQUIRE(answer);
            CHECK(answer->status == 200);
            CHECK(answer->body == "POST /v2/x?n=" + std::to_string(round) + " {}");
            CHECK(answer->has("Connection: keep-alive\r\n"));
        }
    }
    CHECK(service.server.counts().requests_read == 400);
    CHECK(service.server.counts().handshakes_failed == 0);
}

TEST_CASE("secured bodies of every size arrive whole, in records of every size") {
    Service service;
    for (const long record_bytes_max : {512L, 4096L, 16'384L}) {
        CAPTURE(record_bytes_max);
        Client client(service.port(), {.record_bytes_max = record_bytes_max});
        for (const std::size_t bytes :
             {0U, 1U, 4000U, 4096U, 16'384U, 40'000U, 65'536U, 2'097'152U}) {
            CAPTURE(bytes);
            std::string body(bytes, 'x');
            if (!body.empty()) body.back() = '!';
            const auto answer = client.ask(post("/echo", body));
            REQUIRE(answer);
            CHECK(answer->status == 200);
            CHECK(answer->body == "POST /echo? " + body);
        }
    }
}

TEST_CASE("many secured requests in one record, and many records in one read") {
    Service service;
    std::string bytes;
    for (int index = 0; index < 100; ++index) {
        bytes += post("/" + std::to_string(index), std::string(200, 'b'));
    }
    for (const long record_bytes_max : {512L, 16'384L}) {
        CAPTURE(record_bytes_max);
        Client client(service.port(), {.record_bytes_max = record_bytes_max});
        for (int round = 0; round < 5; ++round) {
            client.send(bytes);
            for (int index = 0; index < 100; ++index) {
                const auto answer = client.answer();
                REQUIRE(answer);
                CHECK(answer->body.starts_with("POST /" + std::to_string(index) + "? b"));
            }
        }
    }
}

TEST_CASE("a secured request may arrive byte by byte, in records or in pieces of one") {
    Service service;
    const std::string request = post("/bytes", "slow");
    Client records(service.port());
    for (const char byte : request) records.send({&byte, 1});
    CHECK(records.answer()->body == "POST /bytes? slow");

    Client pieces(service.port());
    for (const char byte : pieces.seal(request)) pieces.send_raw({&byte, 1});
    CHECK(pieces.answer()->body == "POST /bytes? slow");
}

TEST_CASE("a request that comes with the end of the handshake is answered") {
    Service service;
    TlsClient client(service.port());
    const std::string hello = client.hello();
    for (const char byte : hello) client.send_raw({&byte, 1});
    REQUIRE(client.shake_hands());
    CHECK(client.ask(get("/first"))->body == "GET /first? ");
}

TEST_CASE("a secured client that does not take its answer costs no worker") {
    Service service;
    Client slow(service.port(), {}, 4096);
    slow.send(get("/large") + get("/after"));
    Client quick(service.port());
    for (int round = 0; round < 20; ++round) CHECK(quick.ask(get("/"))->status == 200);
    const auto large = slow.answer();
    REQUIRE(large);
    CHECK(large->body == std::string(EchoApplication::large_bytes, 'L'));
    CHECK(slow.answer()->body == "GET /after? ");
}

TEST_CASE("a secured client that never takes its answer is cut at the deadline") {
    Service service({.request_deadline = 300ms});
    Client slow(service.port(), {}, 4096);
    slow.send(get("/large"));
    service.wait_for_connections(0);
    CHECK(service.server.counts().requests_read == 1);
}

TEST_CASE("a secured client that asks first is told to go on") {
    Service service;
    Client client(service.port());
    for (int round = 0; round < 2; ++round) {
        client.send(
            "POST /size HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
        CHECK(client.answer()->status == 100);
        CHECK(client.ask("hello")->body == "5");
    }
}

TEST_CASE("a secured client that stops sending after its requests still gets the answers") {
    Service service;
    for (const bool says_so : {true, false}) {
        CAPTURE(says_so);
        Client client(service.port());
        client.send(get("/one") + get("/two"));
        if (says_so) client.send_raw(client.farewell());
        client.finish_sending();
        CHECK(client.answer()->body == "GET /one? ");
        CHECK(client.answer()->body == "GET /two? ");
        CHECK(client.ends());
    }
}

TEST_CASE("a secured connection says goodbye whenever it closes") {
    Service service({.idle_timeout = 1s});
    SUBCASE("asked to") {
        Client client(service.port());
        CHECK(client.ask("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")->status == 200);
        CHECK(client.ends());
    }
    SUBCASE("after a request nobody can read") {
        Client client(service.port());
        CHECK(client.ask("garbage\r\n\r\n")->status == 400);
        CHECK(client.ends());
        CHECK(service.server.counts().requests_unreadable == 1);
        CHECK(service.server.counts().handshakes_failed == 0);
    }
    SUBCASE("idle for too long") {
        Client client(service.port());
        CHECK(client.ends());
    }
}

TEST_CASE("new keys are taken, a stream of them is not") {
    Service service;
    Client client(service.port());
    for (int round = 0; round < 5; ++round) {
        client.send_raw(client.key_update());
        const std::string path = "/" + std::to_string(round);
        CHECK(client.ask(get(path))->body == "GET " + path + "? ");
    }
    for (int round = 0; round < 100; ++round) client.send_raw(client.key_update());
    service.wait_for_connections(0);
}

TEST_CASE("nothing is negotiated twice") {
    Service service;
    Client client(service.port(), {.version_max = TLS1_2_VERSION});
    CHECK(client.ask(get("/"))->status == 200);
    client.send_raw(client.renegotiation());
    CHECK_FALSE(client.shake_hands());
    CHECK(Client(service.port()).ask(get("/"))->status == 200);
}

TEST_CASE("a client that does not speak HTTP/1.1 or only an old TLS is not let in") {
    Service service;
    for (const TlsClientOptions& options : {TlsClientOptions{.protocols = "\x02h2"},
                                            TlsClientOptions{.version_max = TLS1_1_VERSION}}) {
        CAPTURE(options.protocols);
        TlsClient client(service.port(), options);
        CHECK_FALSE(client.shake_hands());
    }
    TlsClient both(service.port(), {.protocols = "\x02h2\x08http/1.1"});
    REQUIRE(both.shake_hands());
    CHECK(both.protocol() == "http/1.1");
    TlsClient neither(service.port(), {.protocols = ""});
    REQUIRE(neither.shake_hands());
    CHECK(neither.ask(get("/"))->status == 200);
}

TEST_CASE("a new certificate is for new connections") {
    Service service;
    Client old(service.port());
    CHECK(old.ask(get("/"))->status == 200);

    service.pem.write_pair("cert.pem", "key.pem", "second");
    CHECK_FALSE(service.server.reload_tls());
    CHECK(old.ask(get("/again"))->body == "GET /again? ");
    Client fresh(service.port());
    CHECK(fresh.certificate_name() == "second");

    service.pem.write("key.pem", "nonsense");
    const auto reason = service.server.reload_tls();
    REQUIRE(reason);
    CHECK(reason->find(service.pem.file("key.pem")) != std::string::npos);
    CHECK(Client(service.port()).certificate_name() == "second");
    CHECK(old.ask(get("/still"))->status == 200);
}

TEST_CASE("reloading without TLS does nothing") {
    EchoApplication application;
    HttpServer server({.port = 0}, application);
    CHECK_FALSE(server.reload_tls());
}

TEST_CASE("files that cannot be used are named with the reason, never with what is in them") {
    const Certified files;
    const PemFolder& pem = files.pem;
    pem.write_pair("other-cert.pem", "other-key.pem", "other");
    pem.write_pair("locked-cert.pem", "locked-key.pem", "locked", "passphrase");
    pem.write("nonsense.pem", "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n");
    pem.write("empty.pem", "");
    pem.write("large.pem", std::string(100'000, 'k'));
    pem.write("open.pem", pem.content("key.pem"), 0644);
    pem.write("group.pem", pem.content("key.pem"), 0640);
    struct Row {
        std::string certificate;
        std::string key;
        std::string file;
        std::string reason;
    };
    const std::vector<Row> rows{
        {"absent.pem", "key.pem", "absent.pem", "No such file or directory"},
        {"cert.pem", "absent.pem", "absent.pem", "No such file or directory"},
        {"empty.pem", "key.pem", "empty.pem", "no start line"},
        {"key.pem", "key.pem", "key.pem", "no start line"},
        {"cert.pem", "cert.pem", "cert.pem", "chmod 640"},
        {"cert.pem", "empty.pem", "empty.pem", "no private key in PEM without passphrase"},
        {"cert.pem", "nonsense.pem", "nonsense.pem", "no private key in PEM without passphrase"},
        {"cert.pem", "large.pem", "large.pem", "too large"},
        {"locked-cert.pem", "locked-key.pem", "locked-key.pem", "without passphrase"},
        {"cert.pem", "other-key.pem", "other-key.pem", "does not belong to"},
        {"cert.pem", "open.pem", "open.pem", "run: chmod 640 " + pem.file("open.pem")},
        {"cert.pem", ".", ".", "not a regular file"},
    };
    EchoApplication application;
    for (const auto& row : rows) {
        CAPTURE(row.certificate);
        CAPTURE(row.key);
        std::string message;
        try {
            const HttpServer server({.port = 0,
                                     .tls_certificate_file = pem.file(row.certificate),
                                     .tls_key_file = pem.file(row.key)},
                                    application);
        } catch (const std::runtime_error& error) {
            message = error.what();
        }
        CAPTURE(message);
        CHECK(message.find(pem.file(row.file)) != std::string::npos);
        CHECK(message.find(row.reason) != std::string::npos);
        CHECK(message.find("c2VjcmV0") == std::string::npos);
        CHECK(message.size() < 300);
    }
    CHECK_THROWS_WITH_AS(HttpServer({.port = 0, .tls_key_file = pem.file("key.pem")}, application),
                         doctest::Contains("certificate file is missing"), std::runtime_error);
    CHECK_THROWS_WITH_AS(
        HttpServer({.port = 0, .tls_certificate_file = pem.file("cert.pem")}, application),
        doctest::Contains("key file is missing"), std::runtime_error);
    const HttpServer server({.port = 0,
                             .tls_certificate_file = pem.file("cert.pem"),
                             .tls_key_file = pem.file("group.pem")},
                            application);
    CHECK(server.port() > 0);
}

TEST_CASE("plain HTTP on a secured port is told so or cut") {
    Service service;
    for (const std::string& request : {get("/liveness"), post("/v2/input-proof", "{}")}) {
        CAPTURE(request);
        RawClient client(service.port());
        const auto answer = client.ask(request);
        REQUIRE(answer);
        CHECK(answer->status == 400);
        CHECK(answer->has("Content-Type: text/plain"));
        CHECK(answer->body == "this port speaks HTTPS\n");
        CHECK(client.ends());
    }
    RawClient other(service.port());
    other.send("DELETE / HTTP/1.1\r\nHost: h\r\n\r\n");
    CHECK_FALSE(other.answer());
    service.wait_for_connections(0);
    CHECK(service.server.counts().handshakes_failed == 3);
    CHECK(service.server.counts().requests_unreadable == 3);
    CHECK(service.application.handled == 0);
}

TEST_CASE("what is no handshake is cut at once") {
    Service service;
    RawClient garbage(service.port());
    garbage.send(std::string(1000, '\x01'));
    CHECK_FALSE(garbage.answer());

    TlsClient gone(service.port());
    gone.send_raw(gone.hello().substr(0, 50));
    gone.finish_sending();
    CHECK_FALSE(gone.answer());
    {
        TlsClient reset(service.port());
        reset.send_raw(reset.hello());
    }
    service.wait_for_connections(0);
    CHECK(service.server.counts().handshakes_failed == 3);
    CHECK(service.server.counts().requests_unreadable == 3);

    { const RawClient silent(service.port()); }
    Client client(service.port());
    CHECK(client.ask(get("/"))->status == 200);
    service.wait_for_connections(1);
    CHECK(service.server.counts().handshakes_failed == 3);
}

TEST_CASE("half and dripping handshakes are cut at the deadline and hold nobody up") {
    Service service({.request_deadline = 300ms});
    std::deque<TlsClient> half;
    std::deque<TlsClient> dripping;
    std::deque<RawClient> silent;
    std::string hello;
    for (int index = 0; index < 20; ++index) {
        hello = half.emplace_back(service.port()).hello();
        half.back().send_raw(hello.substr(0, 100));
        dripping.emplace_back(service.port()).send_raw(hello.substr(0, 10));
        silent.emplace_back(service.port());
    }
    std::size_t sent = 10;
    while (service.server.counts().connections > 0) {
        if (sent < hello.size() - 1) {
            for (auto& client : dripping) client.send_raw(hello.substr(sent, 1));
            ++sent;
        }
        TlsClient other(service.port());
        REQUIRE(other.shake_hands());
        CHECK(other.ask(get("/others"))->status == 200);
        if (service.server.counts().handshakes_failed == 40) break;
        std::this_thread::sleep_for(5ms);
    }
    CHECK(service.server.counts().handshakes_failed == 40);
    CHECK(service.server.counts().requests_unreadable == 40);
    service.wait_for_connections(0);
}

TEST_CASE("a connection too many is closed without a handshake") {
    Service service({.connections_max = 1});
    Client first(service.port());
    TlsClient second(service.port());
    CHECK_FALSE(second.shake_hands());
    CHECK(service.server.counts().connections_refused == 1);
    CHECK(first.ask(get("/"))->status == 200);
}

TEST_CASE("draining closes idle secured connections and finishes the rest") {
    Service service;
    Client idle(service.port());
    CHECK(idle.ask(get("/"))->status == 200);
    RawClient silent(service.port());
    TlsClient half(service.port());
    half.send_raw(half.hello().substr(0, 100));
    Client busy(service.port());
    busy.send(get("/blocks"));
    service.application.wait_for_blocked(1);
    service.wait_for_connections(4);

    CHECK_FALSE(service.server.drain(20ms));
    CHECK(idle.ends());
    CHECK(silent.ends());
    service.application.open();
    const auto answer = busy.answer();
    REQUIRE(answer);
    CHECK(answer->body == "GET /blocks? ");
    CHECK(answer->has("Connection: close"));
    CHECK(busy.ends());
    CHECK(service.server.drain(10s));
}

TEST_CASE("the server goes away with secured connections in every state") {
    std::deque<TlsClient> clients;
    {
        Service service;
        for (int index = 0; index < 5; ++index) clients.emplace_back(service.port());
        clients[0].send_raw(clients[0].hello().substr(0, 40));
        for (std::size_t index = 1; index < 5; ++index) REQUIRE(clients[index].shake_hands());
        clients[1].send("GET / HT");
        clients[2].send(get("/large"));
        clients[3].send(post("/b", "x").substr(0, 30));
        CHECK(clients[4].ask(get("/"))->status == 200);
    }
    CHECK(clients[4].ends());
}

}  // namespace
}  // namespace net
