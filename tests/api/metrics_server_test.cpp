#include "api/metrics/metrics_server.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "api/harness.hpp"
#include "api/metrics_world.hpp"
#include "api/samples.hpp"
#include "net/http_server.hpp"
#include "net/raw_client.hpp"

using api_test::Harness;
using api_test::MetricsWorld;

namespace {

net::HttpResponse ask(api::metrics::MetricsApplication& application, std::string_view method,
                      std::string_view path) {
    net::HttpRequest request;
    request.method = method;
    request.path = path;
    if (auto early = application.before_body(request).answer) return *early;
    return application.handle(request);
}

api::metrics::MetricsOptions any_port() {
    api::metrics::MetricsOptions options;
    options.port = 0;
    return options;
}

std::string request_line(const std::string& method, const std::string& path) {
    return method + " " + path + " HTTP/1.1\r\nHost: here\r\n";
}

}  // namespace

TEST_CASE("metrics and health have their own answers, everything else is unknown") {
    support::VirtualClock clock;
    support::RecordingLogger logger;
    api::metrics::MetricsApplication application([] { return "the text"; }, logger, clock);
    struct Row {
        std::string method;
        std::string path;
        int status;
        std::string body;
        std::string type;
    };
    const std::string text = "text/plain; version=0.0.4; charset=utf-8";
    const std::vector<Row> rows{
        {"GET", "/metrics", 200, "the text", text},
        {"HEAD", "/metrics", 200, "the text", text},
        {"GET", "/health", 200, "", ""},
        {"HEAD", "/health", 200, "", ""},
        {"POST", "/metrics", 405, "", ""},
        {"DELETE", "/health", 405, "", ""},
        {"GET", "/", 404, "", ""},
        {"GET", "/metrics/", 404, "", ""},
        {"GET", "/healthz", 404, "", ""},
        {"POST", "/v2/input-proof", 404, "", ""},
    };
    for (const Row& row : rows) {
        CAPTURE(row.method);
        CAPTURE(row.path);
        const net::HttpResponse response = ask(application, row.method, row.path);
        CHECK(response.status == row.status);
        CHECK(response.body == row.body);
        CHECK(response.content_type == row.type);
        CHECK((row.status == 405) == !response.headers.empty());
    }
}

TEST_CASE("an exposition that fails is a 500 without the reason, which the journal gets") {
    support::VirtualClock clock;
    support::RecordingLogger logger;
    api::metrics::MetricsApplication application(
        []() -> std::string { throw std::runtime_error("at https://user:pw@host/"); }, logger,
        clock);
    const net::HttpResponse response = ask(application, "GET", "/metrics");
    CHECK(response.status == 500);
    CHECK(response.body == "Failed to encode metrics");
    CHECK(logger.count("metrics_failed") == 1);
    CHECK(logger.count("pw@host") == 0);
    CHECK(ask(application, "GET", "/health").status == 200);
}

namespace {

std::function<std::string()> text_of(MetricsWorld& world) {
    return [&world] { return api::metrics::exposition(world.metrics, world.samples); };
}

}  // namespace

TEST_CASE("the metrics server answers over TCP") {
    support::VirtualClock clock;
    support::RecordingLogger logger;
    MetricsWorld world(clock);
    const api::metrics::MetricsServer server(any_port(), text_of(world), logger, clock);
    net::RawClient client(server.port());
    const auto answer = client.ask(request_line("GET", "/metrics") + "\r\n");
    REQUIRE(answer);
    CHECK(answer->status == 200);
    CHECK(answer->has("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
    CHECK(answer->body == api::metrics::exposition(world.metrics, world.samples));
    const auto large =
        client.ask(request_line("POST", "/metrics") + "Content-Length: 100000\r\n\r\n");
    REQUIRE(large);
    CHECK(large->status == 405);
}

TEST_CASE("an address that can not be had is named with the key that changes it") {
    support::VirtualClock clock;
    support::RecordingLogger logger;
    MetricsWorld world(clock);
    const api::metrics::MetricsServer first(any_port(), text_of(world), logger, clock);
    api::metrics::MetricsOptions options = any_port();
    options.port = first.port();
    std::string problem;
    try {
        const api::metrics::MetricsServer second(options, text_of(world), logger, clock);
    } catch (const std::runtime_error& error) {
        problem = error.what();
    }
    CHECK(problem.find("127.0.0.1:" + std::to_string(first.port())) != std::string::npos);
    CHECK(problem.find("metrics.endpoint") != std::string::npos);
}

TEST_CASE("whatever clients send, the series stay few") {
    Harness harness;
    MetricsWorld world(harness.clock);
    world.metrics.add(store::RowCounts{});
    api::Application application(harness.options, {harness.submitter,
                                                   harness.request_reader,
                                                   {harness.rounds},
                                                   harness.contracts,
                                                   harness.health,
                                                   harness.keys,
                                                   harness.clock,
                                                   harness.random,
                                                   harness.logger,
                                                   harness.long_polls,
                                                   world.metrics,
                                                   harness.authenticator,
                                                   harness.executor,
                                                   harness.queries,
                                                   harness.queries,
                                                   harness.contract_lookups});
    net::HttpOptions http;
    http.port = 0;
    http.workers = 1;
    net::HttpServer server(http, application);
    server.start();

    std::mt19937 dice(74);
    const auto pick = [&](const auto& choices) {
        return choices[std::uniform_int_distribution<std::size_t>(0, choices.size() - 1)(dice)];
    };
    const auto noise = [&](std::size_t length) {
        std::string text;
        while (text.size() < length) text += static_cast<char>(' ' + dice() % 95);
        return text;
    };
    const std::vector<std::string> methods{"GET", "GET", "POST", "POST", "HEAD", "PUT", "BREW"};
    const std::vector<std::string> paths{
        "/v2/input-proof",  "/v2/public-decrypt", "/v2/user-decrypt", "/v2/delegated-user-decrypt",
        "/v3/user-decrypt", "/v4/user-decrypt",   "/liveness"};
    const std::vector<std::string> bodies{api_test::sample("input-proof-1-value.json"),
                                          api_test::sample("public-decrypt.json"),
                                          api_test::sample("user-decrypt.json"),
                                          api_test::sample("user-decrypt-v3.json"),
                                          "{}",
                                          "{"};
    const std::vector<std::optional<engine::AcceptOutcome>> outcomes{
        std::nullopt, engine::QueueFull{}, engine::Unavailable{"full", 1}, engine::Conflict{},
        engine::KeyReused{}};
    const std::vector<engine::FindOutcome> found{engine::NotFound{}, engine::Pending{},
                                                 engine::Unreadable{"broken"}};
    std::set<std::string> said;
    for (int i = 0; i < 1'500; ++i) {
        harness.submitter.forced = pick(outcomes);
        harness.request_reader.outcome = pick(found);
        const std::string method = pick(methods);
        std::string path = pick(paths);
        if (method != "POST") {
            path += "/" + (dice() % 2 == 0 ? std::string("01975f4e-2d3c-7b4a-8123-456789abcdef")
                                           : "id" + std::to_string(i));
        }
        const std::string body = method == "POST" ? pick(bodies) : "";
        const std::string name = noise(dice() % 40);
        const std::string version =
            std::to_string(dice() % 100) + "." + std::to_string(dice() % 100);
        std::string request = request_line(method, path);
        request += "zama-sdk-name: " + name + "\r\nzama-sdk-version: " + version + "\r\n";
        request += "Content-Type: application/json\r\nConnection: close\r\n";
        request += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
        net::RawClient client(server.port());
        client.send(request);
        const auto answer = client.answer(method == "HEAD");
        REQUIRE(answer);
        said.insert(std::to_string(answer->status));
    }
    CHECK(said.size() >= 7);
    const api_test::Exposition page = world.read();
    CHECK(page.sum("relayer_http_requests_total") > 500);
    std::size_t series = 0;  // a histogram is one
    for (const auto& [key, _] : page.series) {
        const std::string& metric = key.first;
        series += metric.ends_with("_bucket") || metric.ends_with("_sum") ? 0 : 1;
    }
    MESSAGE("series: ", series, ", lines: ", page.series.size());
    CHECK(series < 500);
    CHECK(page.series.size() < 2'000);
}
