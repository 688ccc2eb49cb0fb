// GET /v2/keyurl (relayer-api 1.12, sdk-client-contract 7).

#include <string>

#include <doctest/doctest.h>

#include "api/harness.hpp"

namespace {

using api_test::Answer;
using api_test::Harness;
using api_test::Json;

engine::KeyMaterial key_material() {
    engine::KeyMaterial keys;
    keys.key_id.front() = 0x04;
    keys.key_id.back() = 0x03;
    keys.crs_id.front() = 0x05;
    keys.crs_id.back() = 0x04;
    keys.key_urls = {"https://kms.example.org/store/PUB/PublicKey/04"};
    keys.crs_urls = {"https://kms.example.org/store/PUB/CRS/05"};
    return keys;
}

const std::string key_id = "0x04" + std::string(60, '0') + "03";
const std::string crs_id = "0x05" + std::string(60, '0') + "04";

TEST_CASE("T-020: /v2/keyurl names one key and the reference string for 2048 bits") {
    Harness harness;
    harness.keys.given = key_material();
    const Answer answer = harness.get("/v2/keyurl");
    CHECK(answer.status == 200);
    CHECK(answer.content_type == "application/json");
    CHECK_FALSE(answer.has("Retry-After"));
    CHECK(answer.body ==
          R"({"status":"succeeded","response":{"fheKeyInfo":[{"fhePublicKey":{"dataId":")" +
              key_id + R"(","urls":["https://kms.example.org/store/PUB/PublicKey/04"]}}],)" +
              R"("crs":{"2048":{"dataId":")" + crs_id +
              R"(","urls":["https://kms.example.org/store/PUB/CRS/05"]}}}})");
    CHECK(harness.send({"HEAD", "/v2/keyurl", {}, {}}).status == 200);
    CHECK(harness.send({"POST", "/v2/keyurl", {}, {}}).header("Allow") == "GET, HEAD");
}

TEST_CASE("sdk-client-contract 7: a client finds id and first URL of both, in `response`") {
    Harness harness;
    harness.keys.given = key_material();
    harness.keys.given->key_urls.emplace_back("https://second.example.org/key");
    const Json body = harness.get("/v2/keyurl").json;
    CHECK_FALSE(body.contains("result"));
    CHECK_FALSE(body.contains("requestId"));
    const Json& response = body.at("response");
    const Json& key = response.at("fheKeyInfo").at(0).at("fhePublicKey");
    CHECK(key.at("dataId").is_string());
    CHECK(key.at("urls").at(0) == "https://kms.example.org/store/PUB/PublicKey/04");
    CHECK(key.at("urls").size() == 2);
    const Json& crs = response.at("crs").at("2048");
    CHECK(crs.at("dataId").is_string());
    CHECK(crs.at("urls").at(0) == "https://kms.example.org/store/PUB/CRS/05");
}

TEST_CASE("before the first look-up /v2/keyurl is a typed 500") {
    Harness harness;
    const Answer answer = harness.get("/v2/keyurl");
    CHECK(answer.status == 500);
    CHECK(answer.json["status"] == "failed");
    CHECK(answer.json["requestId"].get<std::string>().size() == 36);
    CHECK(answer.label() == "internal_server_error");
    CHECK(answer.message() == "Key URL not yet initialized");
}

}  // namespace
