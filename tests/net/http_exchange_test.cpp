#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
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

// Says that its exchanges are answered soon, and does so from a thread of its own.
class BriefApplication : public EchoApplication {
public:
    ~BriefApplication() override { answering_.request_stop(); }

    HeadVerdict before_body(const HttpRequest& head) override {
        HeadVerdict verdict = EchoApplication::before_body(head);
        verdict.is_brief = true;
        return verdict;
    }
    void serve(HttpExchange exchange) override {
        {
            const std::lock_guard lock(mutex_);
            exchanges_.push_back(std::move(exchange));
        }
        changed_.notify_one();
    }

private:
    void answer_all(const std::stop_token& stop) {
        std::unique_lock lock(mutex_);
        while (changed_.wait(lock, stop, [&] { return !exchanges_.empty(); })) {
            auto exchanges = std::exchange(exchanges_, {});
            lock.unlock();
            for (auto& exchange : exchanges) exchange.answer(answer_to(exchange.request()));
            lock.lock();
        }
    }

    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::vector<HttpExchange> exchanges_;
    std::jthread answering_{[this](const std::stop_token& stop) { answer_all(stop); }};
};

TEST_CASE("requests that are answered soon need no second thread, one client or many") {
    BriefApplication application;
    HttpServer server(one_worker(), application);
    server.start();

    const std::string small = post("/soon", "{}");
    const std::string large = post("/soon", std::string(100'000, ' '));
    for (const std::size_t count : {1U, 20U}) {
        CAPTURE(count);
        std::vector<RawClient> clients;
        for (std::size_t index = 0; index < count; ++index) clients.emplace_back(server.port());
        for (int round = 0; round < 100; ++round) {
            for (auto& client : clients) client.send(round % 10 == 0 ? large : small);
            for (auto& client : clients) {
                const auto answer = client.answer();
                REQUIRE(answer);
                CHECK(answer->body == "later /soon");
            }
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

// Stands before the patient one, which sees another peer and whose answers it marks.
class MarkingApplication : public PatientApplication {
public:
    void serve(HttpExchange exchange) override {
        PatientApplication::serve(HttpExchange(std::make_shared<Marked>(std::move(exchange))));
    }

private:
    class Marked : public HttpExchange::Source {
    public:
        explicit Marked(HttpExchange exchange)
            : exchange_(std::move(exchange)), seen_(exchange_.request()) {
            seen_.remote = "elsewhere";
        }
        [[nodiscard]] const HttpRequest& request() const override { return seen_; }
        [[nodiscard]] const std::shared_ptr<const void>& ticket() const override {
            return exchange_.ticket();
        }
        void answer(std::optional<HttpResponse> response) override {
            HttpExchange exchange = std::move(exchange_);
            if (!response) return;  // dropped
            response->headers.emplace_back("X-Marked", "1");
            exchange.answer(*std::move(response));
        }
        void when_gone(std::function<void()> told) override {
            exchange_.when_gone(std::move(told));
        }

    private:
        HttpExchange exchange_;
        HttpRequest seen_;
    };
};

TEST_CASE("one application stands before another") {
    MarkingApplication application;
    HttpServer server(one_worker(), application);
    server.start();

    RawClient client(server.port());
    client.send(get("/1"));
    auto exchanges = application.take(1);
    CHECK(exchanges.front().request().remote == "elsewhere");
    exchanges.front().answer(answer_to(exchanges.front().request()));
    const auto marked = client.answer();
    REQUIRE(marked);
    CHECK(marked->body == "later /1");
    CHECK(marked->has("X-Marked: 1"));

    client.send(get("/2"));
    application.take(1).clear();
    const auto dropped = client.answer();
    REQUIRE(dropped);
    CHECK(dropped->status == 500);
    CHECK(dropped->has("X-Path: /2"));

    std::promise<void> gone;
    client.send(get("/3"));
    exchanges = application.take(1);
    exchanges.front().when_gone([&] { gone.set_value(); });
    client = RawClient(server.port());
    CHECK(gone.get_future().wait_for(std::chrono::seconds(10)) == std::future_status::ready);
}

TEST_CASE("an answer to a HEAD says how long the body is that was left out before") {
    HttpResponse response;
    response.omitted_bytes = 1'234;
    const auto says = [&](bool to_head, std::string_view length) {
        const std::string bytes = to_bytes(response, {}, "", to_head);
        return bytes.find("Content-Length: " + std::string(length) + "\r\n") != std::string::npos;
    };
    CHECK(says(true, "1234"));
    response.body = "body";
    CHECK(says(false, "4"));
    response.omitted_bytes.reset();
    CHECK(says(true, "4"));
}

// Whoever waits for its answer and has sent more is looked at again in each sweep.
TEST_CASE("peers that say more while they wait keep nobody else from the end of their time") {
    PatientApplication application;
    HttpOptions options = one_worker();
    options.request_deadline = std::chrono::milliseconds(300);
    HttpServer server(options, application);
    server.start();

    constexpr std::size_t count = 100;  // more than one slice of a sweep
    std::vector<RawClient> waiting;
    for (std::size_t index = 0; index < count; ++index) {
        waiting.emplace_back(server.port()).send(get("/slow"));
    }
    auto exchanges = application.take(count);
    for (auto& client : waiting) client.send("G");
    for (auto& exchange : exchanges) exchange.when_gone([] {});

    RawClient late(server.port());
    late.send("GET / HT");
    const auto answer = late.answer();
    REQUIRE(answer);
    CHECK(answer->status == 408);
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
