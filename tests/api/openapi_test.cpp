// The OpenAPI document names what the code has: routes, members, labels. openapi_statuses_test.cpp
// looks at its answers, tests/end_to_end/openapi_test.py replays its examples.

#include <functional>
#include <map>
#include <string>

#include <doctest/doctest.h>

#include "api/decode.hpp"
#include "api/docs/docs_answers.hpp"
#include "api/openapi.hpp"
#include "api/samples.hpp"

namespace {

using api_test::Answer;
using api_test::Harness;
using namespace openapi;

std::string text_of(const openapi::Json& list) {
    std::string text;
    for (const openapi::Json& element : list) text += element.get<std::string>() + " ";
    return text;
}

void check_shape(const api::MemberRule& rule, const openapi::Json& member);

void check_members(const api::Schema& schema, const openapi::Json& object) {
    std::string names;
    for (const api::MemberRule& rule : schema.members) names += std::string(rule.name) + " ";
    CHECK(text_of(object.at("required")) == names);
    std::string properties;
    for (const auto& [name, member] : object.at("properties").items()) properties += name + " ";
    CHECK(properties == names);
    CHECK(object.contains("additionalProperties") == schema.unknown_refused);
    if (schema.unknown_refused) CHECK(object.at("additionalProperties") == false);
    for (const api::MemberRule& rule : schema.members) {
        const std::string name(rule.name);
        CAPTURE(name);
        check_shape(rule, resolved(object.at("properties").at(name)));
    }
}

void check_shape(const api::MemberRule& rule, const openapi::Json& member) {
    switch (rule.shape) {
        case api::Shape::text:
            CHECK(member.at("type") == "string");
            break;
        case api::Shape::text_or_number:
            CHECK(member.at("type") == openapi::Json{"string", "integer"});
            break;
        case api::Shape::texts:
            CHECK(member.at("type") == "array");
            CHECK(resolved(member.at("items")).at("type") == "string");
            break;
        case api::Shape::object:
            CHECK(member.at("type") == "object");
            check_members(*rule.inner, member);
            break;
        case api::Shape::objects:
            CHECK(member.at("type") == "array");
            check_members(*rule.inner, resolved(member.at("items")));
            break;
    }
}

void visit_references(const openapi::Json& node,
                      const std::function<void(const std::string&)>& visit) {
    if (node.is_object() && node.contains("$ref")) visit(node.at("$ref"));
    if (!node.is_structured()) return;
    for (const openapi::Json& child : node) visit_references(child, visit);
}

TEST_CASE("every route is in the document, and the document knows no other") {
    Names of_code;
    for (const api::Route& route : api::routes()) {
        // Served by a listener of its own; this one only says so.
        if (route.action == api::Action::admin) continue;
        of_code.insert(std::string(route.method) + " " + template_of(route));
    }
    Names of_document;
    Names elsewhere;
    for (const auto& [path, item] : document().at("paths").items()) {
        for (const char* method : {"get", "post"}) {
            if (!item.contains(method)) continue;
            const std::string name = (*method == 'g' ? "GET " : "POST ") + path;
            (item.contains("servers") ? elsewhere : of_document).insert(name);
        }
    }
    CHECK(joined(of_document) == joined(of_code));
    CHECK(joined(elsewhere) ==
          "GET /admin/approval, GET /admin/backup, GET /admin/config, GET /admin/jobs, GET "
          "/admin/jobs/{job_id}, GET "
          "/admin/status, "
          "GET /health, GET /metrics, POST /admin/approval, POST /admin/backup, POST "
          "/admin/backup/cancel, POST /admin/cluster/step-down, POST "
          "/admin/config, POST /admin/jobs/{job_id}/cancel, "
          "POST /admin/jobs/{job_id}/retry, POST /admin/kinds/{kind}/pause, "
          "POST /admin/kinds/{kind}/resume, POST /admin/log-level/{level}, POST /admin/release, "
          "POST /admin/reload, ");
}

TEST_CASE("the members of relayer requests are those of the decoders, in their order") {
    const std::map<std::string, const api::Schema*> schemas{
        {"/v2/input-proof", &api::input_proof_schema},
        {"/v2/public-decrypt", &api::public_decrypt_schema},
        {"/v2/user-decrypt", &api::user_decrypt_schema},
        {"/v2/delegated-user-decrypt", &api::delegated_user_decrypt_schema},
        {"/v3/user-decrypt", &api::unified_user_decrypt_schema}};
    for (const auto& [path, schema] : schemas) {
        CAPTURE(path);
        const openapi::Json& media = document()
                                         .at("paths")
                                         .at(path)
                                         .at("post")
                                         .at("requestBody")
                                         .at("content")
                                         .at("application/json");
        check_members(*schema, resolved(media.at("schema")));
    }
}

TEST_CASE("the members of a vote share are those of its decoder") {
    Harness harness;
    const auto refused = [&](const std::string& path) {
        const std::string body = api_test::sample_with("vote-share.json", path, true);
        const Answer answer = harness.post("/shielded-vote/v1/shares", body);
        CHECK(answer.status == 400);
        const std::string error = answer.json.at("error");
        return error.starts_with("invalid JSON: " + path + ":");
    };
    const openapi::Json& share = schema_named("VoteShareRequest");
    const openapi::Json sample = openapi::Json::parse(api_test::sample("vote-share.json"));
    CHECK(share.at("properties").size() == sample.size());
    for (const auto& [name, member] : share.at("properties").items()) {
        CAPTURE(name);
        CHECK(refused(name));
        CHECK(sample.contains(name));
    }
    const openapi::Json& inner = schema_named("EncryptedShare").at("properties");
    CHECK(inner.size() == sample.at("enc_share").size());
    for (const auto& [name, member] : inner.items()) {
        CAPTURE(name);
        CHECK(refused("enc_share." + name));
    }
}

TEST_CASE("a vote share without its optional members is taken, without any other it is not") {
    Harness harness;
    const openapi::Json& share = schema_named("VoteShareRequest");
    const openapi::Json sample = openapi::Json::parse(api_test::sample("vote-share.json"));
    for (const auto& [name, member] : share.at("properties").items()) {
        CAPTURE(name);
        openapi::Json body = sample;
        body.erase(name);
        const bool required = text_of(share.at("required")).find(name + " ") != std::string::npos;
        CHECK(required == !member.contains("default"));
        const int status = harness.post("/shielded-vote/v1/shares", body.dump()).status;
        CHECK((status == 400) == required);
    }
}

TEST_CASE("the label catalogue is that of relayer-api 1.14, with unauthorized") {
    struct Row {
        const char* label;
        const char* statuses;
        bool retryable;
    };
    const Row rows[] = {
        {"malformed_json", "[400]", false},
        {"missing_fields", "[400]", false},
        {"validation_failed", "[400,422]", false},
        {"request_error", "[400,417,431,505]", false},
        {"host_chain_id_not_supported", "[400]", false},
        {"not_allowed_on_host_acl", "[400]", false},
        {"unauthorized", "[401]", false},
        {"not_found", "[404]", false},
        {"rate_limited", "[429]", true},
        {"internal_server_error", "[500]", false},
        {"host_acl_failed", "[500]", true},
        {"readiness_check_timed_out", "[503]", true},
        {"response_timed_out", "[503]", true},
        {"protocol_paused", "[503]", true},
        {"gateway_not_reachable", "[503]", true},
        {"insufficient_balance", "[503]", false},
        {"insufficient_allowance", "[503]", false},
    };
    const openapi::Json& labels = schema_named("ErrorLabel").at("oneOf");
    REQUIRE(labels.size() == std::size(rows));
    for (std::size_t i = 0; i < std::size(rows); ++i) {
        CAPTURE(rows[i].label);
        CHECK(labels[i].at("const") == rows[i].label);
        CHECK(labels[i].at("x-posthouse-statuses").dump() == rows[i].statuses);
        CHECK(labels[i].at("x-posthouse-retryable") == rows[i].retryable);
    }
}

TEST_CASE("every reference leads somewhere, and every component is used") {
    Names used;
    visit_references(document(), [&](const std::string& reference) {
        CAPTURE(reference);
        REQUIRE(reference.starts_with("#/components/"));
        CHECK(document().contains(openapi::Json::json_pointer(reference.substr(1))));
        used.insert(reference);
    });
    for (const auto& [group, members] : document().at("components").items()) {
        if (group == "securitySchemes") continue;
        for (const auto& [name, component] : members.items()) {
            const std::string reference = "#/components/" + group + "/" + name;
            CAPTURE(reference);
            CHECK(used.contains(reference));
        }
    }
}

TEST_CASE("the page loads nothing, runs nothing and names every route") {
    Harness harness;
    const Answer page = harness.get("/docs");
    CHECK(page.status == 200);
    CHECK(page.content_type == "text/html; charset=utf-8");
    CHECK(page.header("Content-Security-Policy") ==
          "default-src 'none'; style-src 'unsafe-inline'");
    CHECK(page.header("X-Content-Type-Options") == "nosniff");
    for (const char* loader : {"<script", "<link", "<img", "<iframe", "@import", "url(", " src="}) {
        CAPTURE(loader);
        CHECK(page.body.find(loader) == std::string::npos);
    }
    for (const auto& [path, item] : document().at("paths").items()) {
        CAPTURE(path);
        CHECK(page.body.find("<code>" + path + "</code>") != std::string::npos);
    }
    const Answer openapi = harness.get("/docs/openapi.json");
    CHECK(openapi.content_type == "application/json");
    CHECK(document().at("servers").dump() == R"([{"url":"/"}])");
    CHECK(openapi.body.find("@VERSION@") == std::string::npos);
}

TEST_CASE("answers with the page and the document hold no copies of them") {
    for (const net::HttpResponse& response :
         {api::docs::docs_answer(), api::docs::openapi_answer()}) {
        CHECK(response.body.empty());
        CHECK(response.fixed_body.size() > 100'000);
    }
}

}  // namespace
