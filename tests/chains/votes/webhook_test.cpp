#include "chains/votes/webhook.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "support/http_stub.hpp"
#include "support/virtual_time.hpp"

namespace {

using namespace std::chrono_literals;

engine::RoundAlert alert(std::int64_t round) {
    engine::RoundAlert alert;
    alert.round = round;
    alert.round_id.fill(static_cast<std::uint8_t>(round));
    alert.vote_end = domain::from_unix_ms(1'780'268'400'000);
    alert.total = 9;
    alert.submitted = 6;
    alert.failed = 1;
    alert.pending = 2;
    return alert;
}

std::string body_of_round_1() {
    std::string id;
    for (int i = 0; i < 32; ++i) id += "01";
    return R"({"type":"round_closed_with_unsubmitted_shares","id":"round-closed-)" + id +
           R"(","round_id":")" + id +
           R"(","vote_end_time":1780268400,"total":9,"submitted":6,"failed":1,"pending":2,)"
           R"("unsubmitted":3})";
}

// Answers as told, then that everything was taken.
class ScriptedPoster : public chains::votes::Poster {
public:
    struct Post {
        std::string body;
        chains::votes::HeaderFields fields;
        domain::Timestamp at;

        [[nodiscard]] std::optional<std::string> field(const std::string& name) const {
            for (const auto& [key, value] : fields) {
                if (key == name) return value;
            }
            return std::nullopt;
        }
    };

    explicit ScriptedPoster(const ports::Clock& clock) : clock_(clock) {}

    std::optional<std::string> post(std::string_view json,
                                    const chains::votes::HeaderFields& fields) override {
        posts.push_back({std::string(json), fields, clock_.wall()});
        if (meanwhile) meanwhile();
        if (refusals.empty()) return std::nullopt;
        auto answer = refusals.front();
        refusals.pop_front();
        return answer;
    }
    void stop() override { stopped = true; }

    [[nodiscard]] std::vector<std::chrono::milliseconds> pauses() const {
        std::vector<std::chrono::milliseconds> between;
        for (std::size_t i = 1; i < posts.size(); ++i) {
            between.push_back(posts[i].at - posts[i - 1].at);
        }
        return between;
    }

    std::deque<std::optional<std::string>> refusals;
    std::function<void()> meanwhile;
    std::vector<Post> posts;
    bool stopped = false;

private:
    const ports::Clock& clock_;
};

struct TakenAlerts : engine::AlertEvents {
    void alert_taken(engine::AlertMark alert) override {
        rounds.push_back(alert.round);
        late.push_back(alert.late);
        if (meanwhile) meanwhile();
    }

    std::vector<std::int64_t> rounds;
    std::vector<std::uint64_t> late;
    std::function<void()> meanwhile;
};

chains::votes::WebhookOptions options_of_test() {
    chains::votes::WebhookOptions options;
    options.url = "http://alerts.test/hook";
    options.secret = "swordfish";
    options.pause_first = 1s;
    options.pause_max = 5s;
    return options;
}

struct Harness {
    explicit Harness(const chains::votes::WebhookOptions& options = options_of_test())
        : webhook(std::make_unique<chains::votes::Webhook>(options, poster, taken, executor, clock,
                                                           logger)) {}

    void refuse(std::size_t times, const std::string& reason = "HTTP 500") {
        for (std::size_t i = 0; i < times; ++i) poster.refusals.emplace_back(reason);
    }

    support::VirtualClock clock;
    support::VirtualExecutor executor{clock};
    support::RecordingLogger logger;
    ScriptedPoster poster{clock};
    TakenAlerts taken;
    std::unique_ptr<chains::votes::Webhook> webhook;
};

}  // namespace

TEST_CASE("an alert is posted once, with its counts, and reported as taken") {
    Harness harness;
    harness.webhook->raise({alert(1)});
    CHECK(harness.poster.posts.empty());  // whoever raises it does not wait for the network
    harness.executor.run_for(24h);
    REQUIRE(harness.poster.posts.size() == 1);
    CHECK(harness.poster.posts[0].body == body_of_round_1());
    CHECK(harness.taken.rounds == std::vector<std::int64_t>{1});
    CHECK(harness.logger.count("alert_delivered") == 1);
}

TEST_CASE("field 88: how many shares were only admitted stands in the report where it is told") {
    for (const std::uint64_t unconfirmed : {0, 6}) {
        Harness harness;
        engine::RoundAlert told = alert(1);
        told.unconfirmed = unconfirmed;
        harness.webhook->raise({told});
        harness.executor.run_for(1s);
        REQUIRE(harness.poster.posts.size() == 1);
        std::string body = body_of_round_1();
        body.insert(body.size() - 1, R"(,"unconfirmed":)" + std::to_string(unconfirmed));
        CHECK(harness.poster.posts[0].body == body);
    }
}

TEST_CASE("what kept shares from the chain stands in the report where it is known") {
    Harness harness;
    engine::RoundAlert told = alert(1);
    told.reason = "code 5: \"no\"";
    harness.webhook->raise({told});
    harness.executor.run_for(1s);
    REQUIRE(harness.poster.posts.size() == 1);
    std::string body = body_of_round_1();
    body.insert(body.size() - 1, R"(,"reason":"code 5: \"no\"")");
    CHECK(harness.poster.posts[0].body == body);
}

TEST_CASE("an alert of shares that came after the end has an id of its own, and says so") {
    Harness harness;
    engine::RoundAlert told = alert(1);
    told.total = told.pending = 2;
    told.submitted = told.failed = 0;
    told.late = 5;
    harness.webhook->raise({told});
    harness.executor.run_for(1s);
    REQUIRE(harness.poster.posts.size() == 1);
    const auto json = nlohmann::json::parse(harness.poster.posts[0].body);
    CHECK(json["id"] == "round-closed-" + domain::to_hex(told.round_id) + "-5");
    CHECK(json["type"] == "round_closed_with_unsubmitted_shares");
    CHECK(json["total"] == 2);
    CHECK(json["unsubmitted"] == 2);
    CHECK(json["after_end"] == true);
    CHECK(harness.taken.late == std::vector<std::uint64_t>{5});
}

TEST_CASE("timestamp and signature are those of the documented scheme") {
    // python: hmac.new(b'swordfish', b'1780272000.' + body, 'sha256').hexdigest()
    Harness harness;
    harness.webhook->raise({alert(1)});
    harness.executor.run_due();
    REQUIRE(harness.poster.posts.size() == 1);
    CHECK(harness.poster.posts[0].field("X-Posthouse-Timestamp") == "1780272000");
    CHECK(harness.poster.posts[0].field("X-Posthouse-Signature") ==
          "sha256=c1f16f871a32ad38b86622d28a53608ab830c959596fe7b602d65c5417ddc8d5");
}

TEST_CASE("without a secret there is a timestamp and no signature") {
    chains::votes::WebhookOptions options = options_of_test();
    options.secret.clear();
    Harness harness(options);
    harness.webhook->raise({alert(1)});
    harness.executor.run_due();
    REQUIRE(harness.poster.posts.size() == 1);
    CHECK(harness.poster.posts[0].fields.size() == 1);
    CHECK(harness.poster.posts[0].field("X-Posthouse-Timestamp"));
}

TEST_CASE("what was not taken is tried again with doubling pauses up to the longest") {
    Harness harness;
    harness.refuse(6);
    harness.webhook->raise({alert(1)});
    harness.executor.run_for(1h);
    CHECK(harness.poster.pauses() ==
          std::vector<std::chrono::milliseconds>{1s, 2s, 4s, 5s, 5s, 5s});
    CHECK(harness.taken.rounds == std::vector<std::int64_t>{1});
    CHECK(harness.poster.posts.front().body == harness.poster.posts.back().body);
    CHECK(harness.poster.posts.back().field("X-Posthouse-Timestamp") == "1780272022");
    CHECK(harness.poster.posts.back().field("X-Posthouse-Signature") !=
          harness.poster.posts.front().field("X-Posthouse-Signature"));
}

TEST_CASE("it never gives up") {
    Harness harness;
    harness.refuse(20'000);
    harness.webhook->raise({alert(1)});
    harness.executor.run_for(24h);
    CHECK(harness.poster.posts.size() > 17'000);
    CHECK(harness.taken.rounds.empty());
}

TEST_CASE("an alert that is under way is not sent twice when it is raised again") {
    Harness harness;
    harness.refuse(2);
    harness.webhook->raise({alert(1)});
    harness.webhook->raise({alert(1), alert(1)});
    harness.executor.run_for(500ms);
    harness.webhook->raise({alert(1)});
    // As if the next start came between the answer and its note in the store.
    harness.taken.meanwhile = [&] { harness.webhook->raise({alert(1)}); };
    harness.executor.run_for(1h);
    CHECK(harness.poster.posts.size() == 3);
    CHECK(harness.taken.rounds == std::vector<std::int64_t>{1});
}

TEST_CASE("an alert that comes while another is posted waits for its turn") {
    Harness harness;
    harness.poster.meanwhile = [&] {
        harness.poster.meanwhile = nullptr;
        harness.webhook->raise({alert(2), alert(3)});
    };
    harness.webhook->raise({alert(1)});
    harness.executor.run_due();
    CHECK(harness.taken.rounds == std::vector<std::int64_t>{1, 2, 3});
    CHECK(harness.poster.posts.size() == 3);
}

TEST_CASE("one alert that is refused does not hold up the others") {
    Harness harness;
    harness.refuse(1, "HTTP 422");
    harness.webhook->raise({alert(1), alert(2)});
    harness.executor.run_due();
    CHECK(harness.taken.rounds == std::vector<std::int64_t>{2});
    harness.executor.run_for(1s);
    CHECK(harness.taken.rounds == std::vector<std::int64_t>{2, 1});
}

TEST_CASE("a streak of failures is one warning, without the URL") {
    Harness harness;
    harness.refuse(10, "connection refused");
    harness.webhook->raise({alert(1), alert(2)});
    harness.executor.run_for(1h);
    CHECK(harness.logger.count("alert_not_delivered") == 1);
    CHECK(harness.logger.count("connection refused") == 1);
    CHECK(harness.taken.rounds.size() == 2);

    harness.refuse(2);
    harness.webhook->raise({alert(3)});
    harness.executor.run_for(1h);
    CHECK(harness.logger.count("alert_not_delivered") == 2);
    CHECK(harness.logger.count("alerts.test") == 0);
    CHECK(harness.logger.count("swordfish") == 0);
}

TEST_CASE("after stop nothing is sent, whatever waits") {
    Harness harness;
    harness.refuse(1);
    harness.webhook->raise({alert(1)});
    harness.executor.run_due();
    harness.webhook->stop();
    harness.webhook->raise({alert(2)});
    harness.executor.run_for(1h);
    CHECK(harness.poster.stopped);
    CHECK(harness.poster.posts.size() == 1);
    CHECK(harness.taken.rounds.empty());
}

TEST_CASE("work that is left with the executor does no harm when the webhook is gone") {
    Harness harness;
    harness.refuse(1);
    harness.webhook->raise({alert(1)});
    harness.executor.run_due();
    harness.webhook.reset();
    harness.executor.run_for(1h);
    CHECK(harness.poster.posts.size() == 1);
}

// --- over HTTP ---

namespace {

chains::votes::WebhookOptions options_for(const support::HttpStub& stub) {
    chains::votes::WebhookOptions options;
    options.url = stub.url("127.0.0.1", "/hook?key=abcdefgh");
    options.timeout = 5s;
    return options;
}

}  // namespace

TEST_CASE("over HTTP: the POST as documented, and 2xx alone is taken") {
    struct Row {
        int status;
        bool taken;
    };
    for (const Row& row : {Row{200, true}, Row{204, true}, Row{299, true}, Row{302, false},
                           Row{400, false}, Row{500, false}}) {
        CAPTURE(row.status);
        support::HttpStub stub(support::HttpStub::answering(
            [&](const support::StubRequest&) { return support::http(row.status, ""); }));
        const auto poster = chains::votes::make_poster(options_for(stub));
        const auto reason = poster->post(R"({"a":1})", {{"X-Posthouse-Timestamp", "17"}});
        CHECK(!reason == row.taken);
        if (reason) CHECK(*reason == "HTTP " + std::to_string(row.status));
        REQUIRE(stub.count() == 1);
        const support::StubRequest request = stub.requests().front();
        CHECK(request.head.starts_with("POST /hook?key=abcdefgh HTTP/1.1\r\n"));
        CHECK(request.head.find("X-Posthouse-Timestamp: 17\r\n") != std::string::npos);
        CHECK(request.head.find("Content-Type: application/json\r\n") != std::string::npos);
        CHECK(request.body == support::Json{{"a", 1}});
    }
}

TEST_CASE("over HTTP: a receiver that is not there is a reason without the URL") {
    chains::votes::WebhookOptions options;
    {
        support::HttpStub gone(support::HttpStub::answering(
            [](const support::StubRequest&) { return support::http(200, ""); }));
        options = options_for(gone);
    }
    const auto poster = chains::votes::make_poster(options);
    const auto reason = poster->post("{}", {});
    REQUIRE(reason);
    CHECK(!reason->empty());
    CHECK(reason->find("127.0.0.1") == std::string::npos);
    CHECK(reason->find("abcdefgh") == std::string::npos);
}

TEST_CASE("over HTTP: stop ends a POST that hangs") {
    support::HttpStub stub([](support::StubPeer& peer, const support::StubRequest&) {
        static_cast<void>(peer.read_some());  // until the other side goes
        return false;
    });
    chains::votes::WebhookOptions options = options_for(stub);
    options.timeout = 60s;
    const auto poster = chains::votes::make_poster(options);
    const auto begin = std::chrono::steady_clock::now();
    std::optional<std::string> reason;
    {
        const std::jthread posting([&] { reason = poster->post("{}", {}); });
        REQUIRE(stub.await(1));
        poster->stop();
    }
    CHECK(reason);
    CHECK(std::chrono::steady_clock::now() - begin < 30s);
}

TEST_CASE("over HTTP: what is no http URL is refused without repeating it") {
    for (const char* url : {"", "alerts.test/hook", "ws://alerts.test/hook", "ftp://alerts.test"}) {
        CAPTURE(url);
        chains::votes::WebhookOptions options;
        options.url = url;
        try {
            static_cast<void>(chains::votes::make_poster(options));
            FAIL("taken");
        } catch (const std::invalid_argument& refused) {
            CHECK(std::string(refused.what()).find("alerts.test") == std::string::npos);
        }
    }
}
