// What the OpenAPI document says of the admin and the metrics listener is what they send, status by
// status and text by text.

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "api/admin/admin_answer.hpp"
#include "api/admin/admin_application.hpp"
#include "api/metrics/metrics_application.hpp"
#include "api/openapi.hpp"
#include "api/scripted_control.hpp"

namespace {

using namespace openapi;
using api_test::Harness;

constexpr std::string_view token = "correct-horse-battery";
constexpr std::string_view bearer = "Bearer correct-horse-battery";
const std::string admin_path = "/admin/config";

// By status: what errors say, each with its media type.
using Answers = std::map<std::string, Names>;

std::string said(const std::string& media_type, const openapi::Json& value) {
    return media_type + " " + value.dump();
}

void note(Answers& answers, const net::HttpResponse& response) {
    Names& texts = answers[std::to_string(response.status)];
    if (response.status < 400) return;
    const std::string media_type = response.content_type.substr(0, response.content_type.find(';'));
    const bool is_json = media_type == "application/json";
    texts.insert(said(
        media_type, is_json ? openapi::Json::parse(response.body) : openapi::Json(response.body)));
}

const openapi::Json& operation(const std::string& path, const char* method) {
    return document().at("paths").at(path).at(method);
}

Answers documented(const openapi::Json& operation) {
    Answers answers;
    for (const auto& [status, reference] : operation.at("responses").items()) {
        Names& texts = answers[status];
        const openapi::Json& response = resolved(reference);
        if (status < "400" || !response.contains("content")) continue;
        for (const auto& [media_type, media] : response.at("content").items()) {
            for (const openapi::Json& example : media.at("examples")) {
                texts.insert(said(media_type, resolved(example).at("value")));
            }
        }
    }
    return answers;
}

void check_same(const Answers& documented, const Answers& provoked) {
    Names of_document;
    Names of_code;
    for (const auto& [status, texts] : documented) of_document.insert(status);
    for (const auto& [status, texts] : provoked) of_code.insert(status);
    REQUIRE(joined(of_document) == joined(of_code));
    for (const auto& [status, texts] : documented) {
        CAPTURE(status);
        CHECK(joined(texts) == joined(provoked.at(status)));
    }
}

// What the server around an application lets it say.
Answers surroundings(net::HttpApplication& application) {
    Answers answers;
    for (const net::HttpProblem problem : problems) {
        note(answers, application.unreadable({}, problem));
    }
    note(answers, application.failed({}));
    return answers;
}

struct Admin {
    [[nodiscard]] net::HttpResponse send(std::string_view method, std::string_view body,
                                         std::vector<net::HttpHeader> headers) {
        net::HttpRequest request;
        request.method = method;
        request.path = admin_path;
        request.headers = std::move(headers);
        request.body = body;
        return application.handle(request);
    }
    [[nodiscard]] net::HttpResponse get() { return send("GET", {}, {{"Authorization", bearer}}); }
    [[nodiscard]] net::HttpResponse post(std::string_view body) {
        return send("POST", body, {{"X-Admin-Token", token}, {"Content-Type", "application/json"}});
    }

    support::VirtualClock clock;
    support::RecordingLogger logger;
    api::ScriptedControl control{engine::Tuning{}};
    api::admin::AdminChanges changes{control, logger, engine::Tuning{}, {}};
    api::admin::AdminApplication application{token, changes, logger, clock};
};

// The bodies that the examples of errors name as their cause.
std::vector<std::string> bad_bodies() {
    std::vector<std::string> bodies;
    for (const openapi::Json& example : document().at("components").at("examples")) {
        const openapi::Json request = example.value("x-posthouse-request", openapi::Json::object());
        const bool is_ours = request.value("server", "") == "admin" &&
                             request.value("path", "") == admin_path &&
                             request.contains("bodyText");
        if (is_ours && !request.contains("headers")) bodies.push_back(request.at("bodyText"));
    }
    return bodies;
}

// The 403 is what the main listener says on the same path.
Answers take_403(Answers& answers) {
    Answers taken;
    if (auto node = answers.extract("403")) taken.insert(std::move(node));
    return taken;
}

TEST_CASE("the documented answers of GET /admin/config are those of its listener") {
    Admin admin;
    Answers provoked = surroundings(admin.application);
    note(provoked, admin.get());
    note(provoked, admin.send("GET", {}, {}));
    Answers of_document = documented(operation(admin_path, "get"));
    take_403(of_document);
    check_same(of_document, provoked);
}

TEST_CASE("the documented answers of POST /admin/config are those of its listener") {
    Admin admin;
    Answers provoked = surroundings(admin.application);
    note(provoked, admin.send("POST", "{}", {}));
    note(provoked, admin.send("POST", "{}", {{"Authorization", bearer}}));
    const std::vector<std::string> bodies = bad_bodies();
    REQUIRE(bodies.size() > 10);
    for (const std::string& body : bodies) note(provoked, admin.post(body));
    const openapi::Json& rate =
        document().at("components").at("examples").at("SetRate").at("value");
    note(provoked, admin.post(rate.dump()));
    admin.control.close_door();
    note(provoked, admin.post(rate.dump()));
    Answers of_document = documented(operation(admin_path, "post"));
    take_403(of_document);
    check_same(of_document, provoked);
}

TEST_CASE("the 403 of /admin/config is what the listener of the requests answers") {
    Answers provoked;
    for (const bool enabled : {false, true}) {
        api::Options options;
        options.admin_enabled = enabled;
        const api_test::Answer answer = Harness(options).get(admin_path);
        provoked[std::to_string(answer.status)].insert(
            said(answer.content_type, openapi::Json::parse(answer.body)));
    }
    for (const char* method : {"get", "post"}) {
        Answers of_document = documented(operation(admin_path, method));
        check_same(take_403(of_document), provoked);
    }
}

TEST_CASE("the parameters in the document are those of the table, in its order") {
    openapi::Json names = openapi::Json::array();
    openapi::Json keys = openapi::Json::array();
    for (const api::admin::AdminParameter& parameter : api::admin::admin_parameters()) {
        names.push_back(parameter.name);
        keys.push_back(parameter.key);
    }
    CHECK(schema_named("AdminParameter").at("enum") == names);
    const openapi::Json& members = schema_named("AdminSettings").at("properties");
    CHECK(members.at("values").at("required") == keys);
    CHECK(members.at("available_params").at("minItems") == names.size());
    for (const openapi::Json& key : keys) {
        CHECK(members.at("values").at("properties").contains(key.get<std::string>()));
    }
}

TEST_CASE("the example of all settings has the constraints of the code") {
    Admin admin;
    const openapi::Json state = openapi::Json::parse(admin.get().body);
    const openapi::Json& example =
        document().at("components").at("examples").at("AdminSettings").at("value");
    CHECK(example.at("available_params") == state.at("available_params"));
}

TEST_CASE("the limits of an interval in the document are those of the code") {
    const openapi::Json& pair = schema_named("AdminInterval").at("items");
    CHECK(pair.at("maximum") == api::admin::interval_seconds_max);
    const openapi::Json& value = schema_named("AdminUpdate").at("properties").at("value");
    CHECK(value.at("maxItems") == api::admin::intervals_max);
    const openapi::Json& object = value.at("items").at("anyOf").at(1).at("properties");
    for (const openapi::Json& member : object)
        CHECK(member.at("maximum") == api::admin::interval_seconds_max);
}

TEST_CASE("the documented answers of the metrics listener are those it sends") {
    support::VirtualClock clock;
    support::RecordingLogger logger;
    for (const std::string path : {"/metrics", "/health"}) {
        CAPTURE(path);
        net::HttpRequest request;
        request.method = "GET";
        request.path = path;
        api::metrics::MetricsApplication working([] { return "text"; }, logger, clock);
        api::metrics::MetricsApplication broken(
            []() -> std::string { throw std::runtime_error("disk"); }, logger, clock);
        Answers provoked = surroundings(working);
        note(provoked, working.handle(request));
        note(provoked, broken.handle(request));
        check_same(documented(operation(path, "get")), provoked);
    }
}

}  // namespace
