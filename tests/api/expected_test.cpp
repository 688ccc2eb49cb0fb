// Replays the tables of expected answers that come with the sample bodies, through a socket.

#include <algorithm>
#include <map>
#include <regex>
#include <string>

#include <doctest/doctest.h>

#include "api/harness.hpp"
#include "api/samples.hpp"

namespace {

using api_test::Answer;
using api_test::Harness;
using api_test::Json;

std::vector<Json> sorted(Json details) {
    std::vector<Json> entries(details.begin(), details.end());
    std::sort(entries.begin(), entries.end());
    return entries;
}

// What differs from `expect`; empty: nothing.
std::string difference(const Answer& answer, const Json& expect) {
    if (answer.status != expect["status"]) return "status " + std::to_string(answer.status);
    if (expect.value("empty", false)) return answer.body.empty() ? "" : "body " + answer.body;
    if (expect.contains("textStartsWith")) {
        return answer.body.starts_with(expect["textStartsWith"].get<std::string>()) ? "" : "text";
    }
    if (answer.json.value("status", "") != expect["bodyStatus"]) return "body status";
    if (answer.json.value("requestId", "").empty()) return "requestId";
    if (!expect.contains("label")) return "";

    const Json error = answer.json.value("error", Json::object());
    if (error.value("label", "") != expect["label"]) return "label " + error.dump();
    if (expect.contains("message") && error.value("message", "") != expect["message"]) {
        return "message " + error.dump();
    }
    if (error.contains("details") != expect.contains("details")) return "details " + error.dump();
    if (expect.contains("details") && sorted(error["details"]) != sorted(expect["details"])) {
        return "details " + error.dump();
    }
    return "";
}

void check_accepted(const Answer& answer) {
    static const std::regex uuid("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");
    static const std::regex seconds("[1-9][0-9]*");
    CHECK(std::regex_match(answer.json["result"]["jobId"].get<std::string>(), uuid));
    CHECK(answer.json["job_id"] == answer.json["result"]["jobId"]);
    CHECK(std::regex_match(answer.header("Retry-After"), seconds));
    CHECK(std::to_string(answer.json["eta_seconds"].get<int>()) == answer.header("Retry-After"));
}

// Cases whose first answer is a defect of the original: ours is the one the specification chose.
const std::map<std::string, std::string> ours{
    {"json/string-is-number", "D-16: the real field is named"},
    {"json/string-is-null", "D-16: the real field is named"},
    {"json/array-is-string", "D-16: the real field is named"},
    {"json/object-is-string", "D-16: the real field is named"},
    {"public-decrypt/short-handle", "D-10: handles have 64 digits"},
    {"public-decrypt/long-handle", "D-10: handles have 64 digits"},
    {"http/get-bad-job-id", "1.1 [H]: the envelope with request_error"},
};

TEST_CASE("every relayer answer is as the table of samples says") {
    const Json table = Json::parse(api_test::sample("expected.json"));
    REQUIRE(table["cases"].size() == 168);
    Harness harness;
    for (const Json& example : table["cases"]) {
        CAPTURE(example["id"].get<std::string>());
        const Answer answer = harness.send(
            {example.value("method", "POST"), example["path"], api_test::body_of(example)});
        const Json others = example.value("alsoAccept", Json::array());
        std::string differs = difference(answer, example["expect"]);
        if (ours.contains(example["id"])) {
            CHECK(differs != "");
            const bool accepted = std::any_of(others.begin(), others.end(), [&](const Json& other) {
                return difference(answer, other).empty();
            });
            differs = accepted ? "" : "no accepted answer: " + answer.body;
        }
        CHECK(differs == "");
        if (answer.status == 202) check_accepted(answer);
    }
}

TEST_CASE("every share answer is as the table of samples says") {
    const Json table = Json::parse(api_test::sample("expected-shares.json"));
    REQUIRE(table["cases"].size() == 25);
    Harness harness;
    for (const Json& example : table["cases"]) {
        CAPTURE(example["id"].get<std::string>());
        const Answer answer = harness.post("/shielded-vote/v1/shares", api_test::body_of(example));
        CHECK(answer.status == example["status"]);
        CHECK(answer.content_type == "application/json");
        if (example.contains("body")) {
            CHECK(answer.json == example["body"]);
            continue;
        }
        CHECK(answer.json["status"] == "error");
        const std::string error = answer.json["error"];
        CAPTURE(error);
        if (example.contains("error")) CHECK(error == example["error"]);
        CHECK(error.starts_with(example.value("errorStartsWith", "")));
        CHECK(error.find(example.value("errorContains", "")) != std::string::npos);
    }
}

}  // namespace
