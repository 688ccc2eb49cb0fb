#include <doctest/doctest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "net/echo_application.hpp"
#include "net/http_server.hpp"
#include "net/raw_client.hpp"

namespace net {
namespace {

// Keeps exchanges until the test answers them.
class PatientApplication : public EchoApplication {
public:
    void serve(HttpExchange exchange) override {
        const std::lock_guard lock(mutex_);
        exchanges_.push_back(std::move(exchange));
        changed_.notify_all();
    }

    [[nodiscard]] std::vector<HttpExchange> take(std::size_t count) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return exchanges_.size() >= count; });
        return std::exchange(exchanges_, {});
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<HttpExchange> exchanges_;
};

HttpResponse answer_to(const HttpRequest& request) {
    HttpResponse response;
    response.body = "later " + std::string(request.path);
    return response;
}

HttpOptions one_worker() {
    HttpOptions options;
    options.port = 0;
    options.workers = 1;
    return options;
}

TEST_CASE("one worker hands on many requests and another thread answers them") {
    PatientApplication application;
    HttpServer server(one_worker(), application);
    server.start();

    constexpr std::size_t count = 50;
    std::vector<RawClient> clients;
    for (std::size_t index = 0; index < count; ++index) clients.emplace_back(server.port());
    for (int round = 0; round < 3; ++round) {
        for (auto& client : clients) client.send(post("/slow", "{}"));
        for (auto& exchange : application.take(count))
            exchange.answer(answer_to(exchange.request()));
        for (auto& client : clients) {
            const auto answer = client.answer();
            REQUIRE(answer);
            CHECK(answer->body == "later /slow");
            CHECK(answer->has("Connection: keep-alive"));
        }
    }
}

TEST_CASE("pipelined requests are handed on one after the other") {
    PatientApplication application;
    HttpServer server(one_worker(), application);
    server.start();

    RawClient client(server.port());
    client.send(get("/1") + get("/2") + get("/3"));
    for (const std::string path : {"/1", "/2", "/3"}) {
        auto exchanges = application.take(1);
        REQUIRE(exchanges.size() == 1);
        CHECK(exchanges.front().request().path == path);
        exchanges.front().answer(answer_to(exchanges.front().request()));
        CHECK(client.answer()->body == "later " + path);
    }
}

TEST_CASE("an exchange that is dropped is answered as failed") {
    PatientApplication application;
    HttpServer server(one_worker(), application);
    server.start();

    RawClient client(server.port());
    client.send(get("/lost"));
    application.take(1).clear();
    const auto answer = client.answer();
    REQUIRE(answer);
    CHECK(answer->status == 500);
    CHECK(answer->has("X-Path: /lost"));
    CHECK(answer->has("Connection: keep-alive"));
}

TEST_CASE("draining waits for exchanges") {
    PatientApplication application;
    HttpServer server(one_worker(), application);
    server.start();

    RawClient client(server.port());
    client.send(get("/slow"));
    auto exchanges = application.take(1);
    CHECK_FALSE(server.drain(std::chrono::milliseconds(50)));
    exchanges.front().answer(answer_to(exchanges.front().request()));
    const auto answer = client.answer();
    REQUIRE(answer);
    CHECK(answer->body == "later /slow");
    CHECK(answer->has("Connection: close"));
    CHECK(client.ends());
    CHECK(server.drain(std::chrono::seconds(10)));
}

TEST_CASE("an answer that comes after the server is gone is dropped") {
    PatientApplication application;
    std::optional<HttpServer> server(std::in_place, one_worker(), application);
    server->start();

    RawClient client(server->port());
    client.send(get("/slow"));
    auto exchanges = application.take(1);
    server.reset();
    CHECK(exchanges.front().request().path == "/slow");
    exchanges.front().answer(answer_to(exchanges.front().request()));
    CHECK(client.ends());
}

}  // namespace
}  // namespace net
