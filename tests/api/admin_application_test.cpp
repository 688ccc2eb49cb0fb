#include "api/admin/admin_application.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "api/admin/admin_answer.hpp"
#include "api/admin_tunings.hpp"
#include "api/harness.hpp"
#include "api/scripted_control.hpp"
#include "net/client.hpp"
#include "net/raw_client.hpp"
#include "support/temp_directory.hpp"

namespace api {
namespace {

using Json = nlohmann::json;
using namespace std::chrono_literals;

constexpr std::string_view token = "correct-horse-battery";
constexpr std::string_view with_token = "Authorization: Bearer correct-horse-battery\r\n";
constexpr std::string_view as_json = "Content-Type: application/json\r\n";

std::string change(std::string_view name, std::string_view value) {
    return R"({"param":")" + std::string(name) + R"(","value":)" + std::string(value) + "}";
}

// The admin interface on a socket, in front of an engine that does as it is told.
struct Admin {
    explicit Admin(const admin::RestoredTuning& found = {sample_tuning(), {}, {}})
        : restored(found) {
        server.start();
    }

    [[nodiscard]] static std::string posted(std::string_view body) {
        return net::post("/admin/config", body, std::string(with_token).append(as_json));
    }
    [[nodiscard]] net::RawAnswer send(std::string_view bytes) const {
        return net::RawClient(server.port()).ask(bytes).value();
    }
    [[nodiscard]] net::RawAnswer set(std::string_view name, std::string_view value) const {
        return send(posted(change(name, value)));
    }
    [[nodiscard]] Json state() const {
        const net::RawAnswer answer =
            send("GET /admin/config HTTP/1.1\r\nHost: l\r\n" + std::string(with_token) + "\r\n");
        REQUIRE(answer.status == 200);
        return Json::parse(answer.body);
    }
    [[nodiscard]] std::string error_of(const net::RawAnswer& answer) const {
        CHECK(answer.has("Content-Type: application/json"));
        return Json::parse(answer.body).at("error");
    }

    [[nodiscard]] static net::HttpOptions options() {
        admin::AdminOptions given;
        given.port = 0;
        return admin::http_options_of(given);
    }

    admin::RestoredTuning restored;
    support::VirtualClock clock;
    support::RecordingLogger logger;
    ScriptedControl control{restored.tuning};
    admin::AdminChanges changes{control, logger, sample_tuning(), restored};
    admin::AdminApplication application{token, changes, logger, clock};
    net::HttpServer server{options(), application};
};

TEST_CASE("T-004 the listener of the requests answers 403, whatever is sent") {
    for (const bool enabled : {false, true}) {
        CAPTURE(enabled);
        Options options;
        options.admin_enabled = enabled;
        api_test::Harness harness{options};
        for (const api_test::Call& call :
             {api_test::Call{"POST", "/admin/config", change("input_proof_throttler_tps", "50")},
              api_test::Call{"POST", "/admin/config", "{", {}},
              api_test::Call{"GET", "/admin/config", {}, {}},
              api_test::Call{"GET", "/admin/config", {}, {{"Authorization", "Bearer x"}}}}) {
            const api_test::Answer answer = harness.send(call);
            CHECK(answer.status == 403);
            CHECK(answer.content_type == "application/json");
            CHECK(answer.json.size() == 1);
            const std::string error = answer.json.at("error");
            CHECK(error.find("not enabled") != std::string::npos);
            CHECK((error == "Admin endpoints are not enabled") == !enabled);
        }
        const api_test::Answer other = harness.send({"DELETE", "/admin/config", {}, {}});
        CHECK(other.status == 405);
        CHECK(other.header("Allow") == "GET, HEAD, POST");
    }
}

TEST_CASE("an address that is taken is named with the setting that changes it") {
    Admin first;
    admin::AdminOptions taken;
    taken.port = first.server.port();
    std::string problem;
    try {
        const net::HttpServer second{admin::http_options_of(taken), first.application};
    } catch (const std::runtime_error& error) {
        problem = error.what();
    }
    CHECK(problem.ends_with("choose another address with http.admin_endpoint"));
}

TEST_CASE("T-005 each of the three rates is set, echoed and in force") {
    const Admin admin;
    for (const std::string name : {"input_proof_throttler_tps", "user_decrypt_throttler_tps",
                                   "public_decrypt_throttler_tps"}) {
        CAPTURE(name);
        const net::RawAnswer answer = admin.set(name, "50");
        CHECK(answer.status == 200);
        CHECK(answer.has("Content-Type: application/json"));
        CHECK(answer.body == R"({"name":")" + name +
                                 R"(","value":50,"message":"Configuration updated successfully"})");
    }
    CHECK(admin.control.tuning().per_seconds ==
          engine::PerRelayerFamily<std::uint32_t>{50, 50, 50});
    CHECK(admin.control.remembered().size() == 3);
    CHECK(admin.logger.count(
              "setting_changed name=input_proof_throttler_tps old=21 new=50 by=admin") == 1);
    CHECK(admin.logger.count("setting_changed ") == 3);
    CHECK(admin.logger.count(token) == 0);
}

TEST_CASE("T-006 a rate of 0 is refused") {
    const Admin admin;
    const net::RawAnswer answer = admin.set("input_proof_throttler_tps", "0");
    CHECK(answer.status == 400);
    CHECK(admin.error_of(answer) == "input_proof_throttler_tps must be greater than 0");
    CHECK(admin.control.asked() == 0);
}

TEST_CASE("T-007 a rate of 1001 is refused") {
    const Admin admin;
    const net::RawAnswer answer = admin.set("user_decrypt_throttler_tps", "1001");
    CHECK(answer.status == 400);
    CHECK(admin.error_of(answer) ==
          "user_decrypt_throttler_tps must be less than or equal to 1000");
    CHECK(admin.control.asked() == 0);
}

TEST_CASE("T-008 an unknown parameter is refused by its name") {
    const Admin admin;
    for (const std::string name : {"unknown", "InputProofThrottlerTps", ""}) {
        const net::RawAnswer answer = admin.set(name, "5");
        CHECK(answer.status == 400);
        CHECK(admin.error_of(answer) == "Unknown configuration parameter: " + name);
    }
    const net::RawAnswer quoted = admin.set(R"(a\"b\n)", "null");
    CHECK(admin.error_of(quoted) == "Unknown configuration parameter: a\"b\n");
    CHECK(admin.logger.count("a\"b") == 0);
    CHECK(Json::parse(admin.set(std::string(5'000, 'x'), "1").body)["error"]
              .get<std::string>()
              .size() < 300);
    CHECK(admin.control.asked() == 0);
}

TEST_CASE("T-009 a rate of 1 and at once 1000 are both taken") {
    const Admin admin;
    net::RawClient client(admin.server.port());
    client.send(Admin::posted(change("input_proof_throttler_tps", "1")) +
                Admin::posted(change("input_proof_throttler_tps", "1000")));
    CHECK(client.answer()->status == 200);
    CHECK(client.answer()->status == 200);
    CHECK(admin.control.tuning().per_seconds.input_proof == 1'000);
    CHECK(admin.control.remembered().at("input_proof_throttler_tps") == "1000");
}

TEST_CASE("nobody comes in without the token, and nothing of the body is read first") {
    const Admin admin;
    struct Row {
        std::string_view label;
        std::string_view headers;
        int status;
    };
    const std::vector<Row> rows{
        {"nothing", "", 401},
        {"empty", "Authorization: Bearer \r\n", 401},
        {"scheme alone", "Authorization: Bearer\r\n", 401},
        {"another scheme", "Authorization: Basic correct-horse-battery\r\n", 401},
        {"no scheme", "Authorization: correct-horse-battery\r\n", 401},
        {"wrong", "Authorization: Bearer correct-horse-batterx\r\n", 401},
        {"too short", "Authorization: Bearer correct-horse\r\n", 401},
        {"too long", "Authorization: Bearer correct-horse-batteryy\r\n", 401},
        {"empty header", "X-Admin-Token:\r\n", 401},
        {"token of shares", "X-Helper-Token: correct-horse-battery\r\n", 401},
        {"bearer", with_token, 200},
        {"any case", "authorization: bearer   correct-horse-battery\r\n", 200},
        {"header", "x-admin-token: correct-horse-battery\r\n", 200},
        {"behind a proxy's",
         "Authorization: Basic cHJveHk=\r\nX-Admin-Token: correct-horse-battery\r\n", 200},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        const std::string headers(row.headers);
        const net::RawAnswer get =
            admin.send("GET /admin/config HTTP/1.1\r\nHost: l\r\n" + headers + "\r\n");
        CHECK(get.status == row.status);
        if (row.status == 200) continue;
        CHECK(get.has("WWW-Authenticate: Bearer"));
        CHECK(admin.error_of(get).starts_with("Unauthorized"));
        // The body never comes, the answer does; neither its type nor its size matters.
        const net::RawAnswer unread =
            admin.send("POST /admin/config HTTP/1.1\r\nHost: l\r\nContent-Length: 60000\r\n" +
                       headers + "\r\n");
        CHECK(unread.status == 401);
        CHECK(unread.has("Connection: close"));
    }
    CHECK(admin.control.asked() == 0);
    CHECK(admin.logger.count("admin_denied remote=127.0.0.1") == 1);
    CHECK(admin.logger.lines()[0].level == ports::LogLevel::warning);
    CHECK(admin.logger.count("correct-horse") == 0);
}

TEST_CASE("failed attempts are logged at most once in ten seconds, with what was left out") {
    Admin admin;
    const std::string bad = "GET /admin/config HTTP/1.1\r\nHost: l\r\n\r\n";
    for (int i = 0; i < 5; ++i) CHECK(admin.send(bad).status == 401);
    CHECK(admin.logger.lines().size() == 1);
    admin.clock.advance(std::chrono::seconds{11});
    CHECK(admin.send(bad).status == 401);
    REQUIRE(admin.logger.lines().size() == 2);
    CHECK(admin.logger.count("suppressed=4") == 1);
}

TEST_CASE("an application without a token lets nobody in") {
    Admin admin;
    admin::AdminApplication open{"", admin.changes, admin.logger, admin.clock};
    net::HttpRequest request;
    request.method = "GET";
    request.path = "/admin/config";
    CHECK(open.handle(request).status == 401);
    request.headers = {{"X-Admin-Token", ""}, {"Authorization", "Bearer "}};
    CHECK(open.handle(request).status == 401);
}

TEST_CASE("what is no change is answered in plain text") {
    const Admin admin;
    struct Row {
        std::string_view label;
        std::string_view content_type;
        std::string_view body;
        int status;
    };
    const std::string_view good = R"({"param":"input_proof_throttler_tps","value":5})";
    const std::vector<Row> rows{
        {"no content type", "", good, 415},
        {"form", "Content-Type: application/x-www-form-urlencoded\r\n", good, 415},
        {"text", "Content-Type: text/plain\r\n", good, 415},
        {"empty", as_json, "", 400},
        {"broken", as_json, "{", 400},
        {"not UTF-8", as_json, "\"\xff\"", 400},
        {"infinite", as_json, R"({"param":"input_proof_throttler_tps","value":Infinity})", 400},
        {"no number", as_json, R"({"param":"input_proof_throttler_tps","value":NaN})", 400},
        {"beyond doubles", as_json, R"({"param":"input_proof_throttler_tps","value":1e999})", 400},
        {"plus", as_json, R"({"param":"input_proof_throttler_tps","value":+5})", 400},
        {"leading zero", as_json, R"({"param":"input_proof_throttler_tps","value":05})", 400},
        {"twice", as_json, R"({"param":"a","param":"input_proof_throttler_tps","value":5})", 400},
        {"value twice", as_json, R"({"param":"a","value":5,"value":6})", 400},
        {"array", as_json, "[]", 422},
        {"number", as_json, "5", 422},
        {"nothing in it", as_json, "{}", 422},
        {"no value", as_json, R"({"param":"input_proof_throttler_tps"})", 422},
        {"no name", as_json, R"({"value":5})", 422},
        {"both names", as_json, R"({"param":"a","name":"a","value":5})", 422},
        {"name of a kind", as_json, R"({"param":5,"value":5})", 422},
        {"text for a number", as_json, R"({"param":"unknown","value":"5"})", 422},
        {"truth for a number", as_json, R"({"param":"unknown","value":true})", 422},
        {"object for a number", as_json, R"({"param":"unknown","value":{}})", 422},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        const net::RawAnswer answer = admin.send(
            net::post("/admin/config", row.body, std::string(with_token).append(row.content_type)));
        CHECK(answer.status == row.status);
        CHECK(answer.has("Content-Type: text/plain"));
        CHECK(answer.body.size() > 10);
    }
    CHECK(admin.control.asked() == 0);
    CHECK(admin.logger.count("setting_refused") == 1);

    for (const std::string_view type :
         {"application/json", "application/json; charset=utf-8", "application/vnd.x+json"}) {
        CAPTURE(type);
        CHECK(admin
                  .send(net::post(
                      "/admin/config", good,
                      std::string(with_token).append("Content-Type: ").append(type) + "\r\n"))
                  .status == 200);
    }
}

TEST_CASE("`name` is another spelling of `param`, and other members do not matter") {
    const Admin admin;
    const net::RawAnswer answer = admin.send(
        Admin::posted(R"({"value":0.25,"comment":["x"],"name":"retry_after_safety_margin"})"));
    CHECK(answer.status == 200);
    CHECK(answer.body == R"({"name":"retry_after_safety_margin","value":0.25,)"
                         R"("message":"Configuration updated successfully"})");
    CHECK(admin.control.tuning().retry_after.safety_margin_permille == 250);
}

TEST_CASE("a body of up to 64 KiB is read, a larger one is not") {
    const Admin admin;
    std::string body = change("input_proof_throttler_tps", "5");
    body.resize(std::size_t{64} << 10U, ' ');
    CHECK(admin.send(Admin::posted(body)).status == 200);
    body += ' ';
    const net::RawAnswer answer = admin.send(Admin::posted(body));
    CHECK(answer.status == 413);
    CHECK_FALSE(admin.error_of(answer).empty());
    CHECK(admin.control.asked() == 1);
}

TEST_CASE("other paths and methods") {
    const Admin admin;
    for (const std::string_view path :
         {"/", "/admin", "/admin/config/", "/liveness", "/v2/input-proof", "/ADMIN/CONFIG"}) {
        CAPTURE(path);
        CHECK(admin.send(net::get(path)).status == 404);
    }
    const net::RawAnswer answer = admin.send("DELETE /admin/config HTTP/1.1\r\nHost: l\r\n" +
                                             std::string(with_token) + "\r\n");
    CHECK(answer.status == 405);
    CHECK(answer.has("Allow: GET, HEAD, POST"));
}

TEST_CASE("on a socket file no token is asked for, and what is given is served beside it") {
    const support::TempDirectory directory;
    const std::string file = directory.file("admin.sock");
    support::VirtualClock clock;
    support::RecordingLogger logger;
    const admin::RestoredTuning restored{sample_tuning(), {}, {}};
    ScriptedControl control{restored.tuning};
    admin::AdminChanges changes{control, logger, sample_tuning(), restored};
    const auto echo = [](const net::HttpRequest& request, const net::Respond& respond) {
        respond(admin::admin_text(200, std::string(request.method) + std::string(request.path)));
    };
    admin::AdminApplication application{
        std::nullopt,
        changes,
        logger,
        clock,
        {{"/a", "GET, HEAD", echo}, {"/b/*/d", "POST", echo}, {"/b/*", "POST", echo}}};
    net::HttpServer server{admin::http_options_at(file), application};
    server.start();
    net::Client client{net::at_socket_file(file), 65'536, nullptr};
    const auto ask = [&](std::string_view method, std::string_view target,
                         std::string_view body = "{}") {
        const auto result =
            client.exchange({.method = method, .target = target, .body = body}, 10s);
        const auto& response = std::get<net::ClientResponse>(result);
        return std::to_string(response.status) + " " + response.body;
    };
    CHECK(
        ask("POST", "/admin/config", change("input_proof_throttler_tps", "50")).starts_with("200"));
    CHECK(control.tuning().per_seconds.input_proof == 50);
    CHECK(ask("GET", "/admin/config").starts_with("200"));
    struct Row {
        std::string method;
        std::string target;
        std::string answer;
    };
    for (const Row& row :
         {Row{"GET", "/a", "200 GET/a"}, Row{"GET", "/a/", "404 "}, Row{"POST", "/a", "405 "},
          Row{"GET", "/b", "404 "}, Row{"GET", "/b/c", "405 "}, Row{"POST", "/b/", "404 "},
          Row{"POST", "/b/c", "200 POST/b/c"}, Row{"POST", "/b/c/", "404 "},
          Row{"POST", "/b/c/d", "200 POST/b/c/d"}, Row{"POST", "/b//d", "404 "},
          Row{"POST", "/b/c/e", "404 "}, Row{"POST", "/b/c/d/e", "404 "}}) {
        CAPTURE(row.method);
        CAPTURE(row.target);
        CHECK(ask(row.method, row.target) == row.answer);
    }
    CHECK(logger.count("admin_denied") == 0);
}

TEST_CASE("GET shows every value, every constraint and what was changed at run time") {
    const Admin admin({sample_tuning(), {"retry_after_max_seconds"}, {}});
    const Json before = admin.state();
    CHECK(before.at("values") == Json::parse(R"({
        "InputProofThrottlerTps": 21, "UserDecryptThrottlerTps": 23,
        "PublicDecryptThrottlerTps": 22, "NominalReadinessCheckSeconds": 4,
        "NominalInputProofProcessingSeconds": 2, "NominalUserDecryptProcessingSeconds": 6,
        "NominalPublicDecryptProcessingSeconds": 5, "NominalTxConfirmationMs": 250,
        "RetryAfterMinSeconds": 1, "RetryAfterMaxSeconds": 300, "RetryAfterSafetyMargin": 0.2,
        "CoproKmsBackoffIntervals": [[0, 4], [60, 10]]})"));
    CHECK(before.at("overridden") == Json::parse(R"(["retry_after_max_seconds"])"));
    const Json& available = before.at("available_params");
    REQUIRE(available.size() == 12);
    CHECK(available[0] == Json::parse(R"json({"name": "InputProofThrottlerTps",
        "description": "Input proof TX throttler rate (TPS)",
        "constraints": {
        "type" : "u32", "min" : 1, "max" : 1000}
})json"));
    CHECK(available[10].at("constraints").dump() == R"({"max":1.0,"min":0.0,"type":"f32"})");
    CHECK(available[11].at("constraints").at("type") == "array");
    CHECK(available[11].at("constraints").at("max_items") == 64);
    for (std::size_t i = 0; i < available.size(); ++i) {
        CHECK(available[i].at("name") == std::string(admin::admin_parameters()[i].key));
    }

    CHECK(admin.set("copro_kms_backoff_intervals", "[[5,6]]").status == 200);
    CHECK(admin.set("nominal_tx_confirmation_ms", "333").status == 200);
    const Json after = admin.state();
    CHECK(after.at("values").at("CoproKmsBackoffIntervals") == Json::parse("[[5,6]]"));
    CHECK(after.at("values").at("NominalTxConfirmationMs") == 333);
    CHECK(after.at("overridden") ==
          Json::parse(R"(["copro_kms_backoff_intervals", "nominal_tx_confirmation_ms",
                          "retry_after_max_seconds"])"));
}

TEST_CASE("HEAD is GET without a body") {
    const Admin admin;
    net::RawClient client(admin.server.port());
    client.send("HEAD /admin/config HTTP/1.1\r\nHost: l\r\n" + std::string(with_token) + "\r\n");
    const auto answer = client.answer(true);
    REQUIRE(answer);
    CHECK(answer->status == 200);
}

TEST_CASE("null goes back to the configuration's value and forgets the change") {
    const Admin admin;
    CHECK(admin.set("retry_after_safety_margin", "0.9").status == 200);
    CHECK(admin.control.remembered().at("retry_after_safety_margin") == "0.9");
    const net::RawAnswer answer = admin.set("retry_after_safety_margin", "null");
    CHECK(answer.status == 200);
    CHECK(Json::parse(answer.body).at("value") == 0.2);
    CHECK(admin.control.remembered().empty());
    CHECK(admin.control.tuning() == sample_tuning());
    CHECK(admin.state().at("overridden").empty());
    CHECK(admin.logger.count(
              "setting_changed name=retry_after_safety_margin old=0.9 new=0.2 by=admin") == 1);
}

TEST_CASE("limits are compared with what is in force, also by those that wait") {
    Admin admin;
    CHECK(admin.set("retry_after_min_seconds", "300").status == 400);
    admin.control.hold();
    net::RawClient first(admin.server.port());
    first.send(Admin::posted(change("retry_after_max_seconds", "50")));
    admin.control.wait_until_asked(1);
    net::RawClient second(admin.server.port());
    second.send(Admin::posted(change("retry_after_min_seconds", "60")));
    // Nobody holds a worker: there are two, and both requests wait.
    CHECK(admin.state().at("values").at("RetryAfterMaxSeconds") == 300);
    admin.control.release();
    CHECK(first.answer()->status == 200);
    const net::RawAnswer refused = second.answer().value();
    CHECK(refused.status == 400);
    CHECK(admin.error_of(refused) ==
          "retry_after_min_seconds must be less than retry_after_max_seconds");
    CHECK(admin.control.tuning().retry_after.max_seconds == 50);
    CHECK(admin.control.tuning().retry_after.min_seconds == 1);
}

TEST_CASE("a change that can not be stored changes nothing and says when to come again") {
    for (const bool at_once : {true, false}) {
        CAPTURE(at_once);
        Admin admin;
        at_once ? admin.control.close_door() : admin.control.break_commits(true);
        for (int i = 0; i < 3; ++i) {
            const net::RawAnswer answer = admin.set("input_proof_throttler_tps", "50");
            CHECK(answer.status == 503);
            CHECK(answer.has("Retry-After: 1\r\n"));
            CHECK(admin.error_of(answer) == "The change could not be stored; try again");
        }
        CHECK(admin.control.tuning() == sample_tuning());
        CHECK(admin.state().at("overridden").empty());
        CHECK(admin.logger.count("setting_changed") == 0);
        CHECK(admin.logger.count("setting_not_stored name=input_proof_throttler_tps") == 1);
        at_once ? admin.control.open_door() : admin.control.break_commits(false);
        CHECK(admin.set("input_proof_throttler_tps", "50").status == 200);
    }
}

TEST_CASE("eight clients that change different parameters at the same time lose none") {
    Admin admin;
    const std::vector<std::string> names{
        "input_proof_throttler_tps",
        "user_decrypt_throttler_tps",
        "public_decrypt_throttler_tps",
        "nominal_readiness_check_seconds",
        "nominal_input_proof_processing_seconds",
        "nominal_user_decrypt_processing_seconds",
        "nominal_public_decrypt_processing_seconds",
        "nominal_tx_confirmation_ms",
    };
    constexpr int rounds = 40;
    std::atomic<int> taken{0};
    {
        std::vector<std::jthread> clients;
        for (std::size_t i = 0; i < names.size(); ++i) {
            clients.emplace_back([&, i] {
                net::RawClient client(admin.server.port());
                for (int round = 1; round <= rounds; ++round) {
                    const std::string value = std::to_string(100 * (i + 1) + round);
                    const auto answer = client.ask(Admin::posted(change(names[i], value)));
                    if (answer && answer->status == 200) ++taken;
                }
            });
        }
    }
    CHECK(taken == rounds * static_cast<int>(names.size()));
    const auto remembered = admin.control.remembered();
    for (std::size_t i = 0; i < names.size(); ++i) {
        CAPTURE(names[i]);
        const std::string last = std::to_string(100 * (i + 1) + rounds);
        CHECK(admin::value_of(admin.control.tuning(), *admin::find_admin_parameter(names[i])) ==
              last);
        CHECK(remembered.at(names[i]) == last);
    }
    CHECK(admin.logger.count("setting_changed") == rounds * names.size());
}

TEST_CASE("requests that wait for a commit are answered before the listener is drained") {
    Admin admin;
    admin.control.hold();
    net::RawClient first(admin.server.port());
    first.send(Admin::posted(change("input_proof_throttler_tps", "50")));
    admin.control.wait_until_asked(1);
    net::RawClient second(admin.server.port());
    second.send(Admin::posted(change("user_decrypt_throttler_tps", "51")));
    CHECK(admin.state().at("overridden").empty());
    CHECK_FALSE(admin.server.drain(std::chrono::milliseconds{1}));
    admin.control.release();
    CHECK(first.answer()->status == 200);
    CHECK(second.answer()->status == 200);
    CHECK(admin.server.drain(std::chrono::seconds{10}));
    CHECK(admin.control.remembered().size() == 2);
}

}  // namespace
}  // namespace api
