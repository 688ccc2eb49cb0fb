// Large numbers arrive at the chain as they were sent, or are refused (field report 73).

#include <chrono>
#include <cstring>
#include <string>

#include "box.hpp"
#include "routes.hpp"

namespace {

using namespace std::chrono_literals;
using api_test::Answer;
using api_test::Json;
using whole::Box;

const char* const share_path = "/shielded-vote/v1/shares";

// The sample with one number replaced, letter by letter: no JSON library rounds it.
std::string with_number(const char* file, const std::string& member, const std::string& number) {
    std::string body = api_test::sample(file);
    const std::string name = "\"" + member + "\": ";
    const std::size_t from = body.find(name) + name.size();
    return body.replace(from, body.find_first_of(",\n}", from) - from, number);
}

TEST_CASE("numbers of a share are exact or 400, nothing negative is stored (field report 73)") {
    struct Row {
        const char* member;
        const char* number;
        int status;
    };
    // The round ends at 4102444800.
    const Row rows[] = {
        {"submit_at", "9007199254740993", 400},
        {"submit_at", "18446744073709551615", 400},
        {"submit_at", "9223372036854775808", 400},
        {"submit_at", "4102444801", 400},
        {"submit_at", "-1", 400},
        {"submit_at", "1.5", 400},
        {"submit_at", "\"5\"", 400},
        {"submit_at", "4102444800", 200},
        {"submit_at", "4102444799", 200},
        {"submit_at", "5", 200},
        {"tree_position", "9223372036854775808", 400},
        {"tree_position", "18446744073709551615", 400},
        {"tree_position", "4294967296", 400},
        {"tree_position", "-1", 400},
        {"tree_position", "4294967295", 200},
    };
    for (const Row& row : rows) {
        CAPTURE(row.member);
        CAPTURE(row.number);
        Box box;
        const Answer answer =
            box.post(share_path, with_number("vote-share.json", row.member, row.number));
        CAPTURE(answer.body);
        CHECK(answer.status == row.status);
        CHECK(box.rows() == (row.status == 200 ? 1 : 0));
        for (const char* column : {"wake_ms", "status_ms", "deadline_ms", "attempts", "faults"}) {
            CAPTURE(column);
            CHECK(box.world.number(std::string("select count(*) from request where ") + column +
                                   " < 0") == 0);
        }
        if (row.status != 200 || row.member != std::string("submit_at")) continue;
        const std::int64_t wake = box.world.number("select wake_ms from request");
        const std::int64_t wanted = std::stoll(row.number) * 1'000;
        CHECK(wake >= wanted);
        if (wanted > 1'780'272'000'000) CHECK(wake == wanted);
    }
}

TEST_CASE("a chain id beyond 2^53 reaches the chain as it was sent (field report 73)") {
    struct Row {
        const char* text;  // JSON
        std::uint64_t chain;
    };
    Box box;
    std::uint64_t number = 0;
    for (const Row& row : {Row{"9007199254740993", 9007199254740993U},
                           {"\"9007199254740993\"", 9007199254740993U},
                           {"9007199254740992", 9007199254740992U},
                           {"18446744073709551615", 18446744073709551615U},
                           {"\"0xffffffffffffffff\"", 18446744073709551615U}}) {
        CAPTURE(row.text);
        Json body = Json::parse(whole::input_proof.body(++number));
        body["contractChainId"] = "X";
        std::string text = body.dump();
        text.replace(text.find("\"X\""), 3, row.text);
        REQUIRE(box.post(whole::input_proof.path, text).status == 202);
        box.run_for(1s);
        REQUIRE(box.world.gateway.prepares.size() == number);
        const auto& request =
            std::get<domain::InputProof>(*box.world.gateway.prepares.back().request);
        CHECK(request.contract_chain_id == row.chain);
    }
    // Neighbours are two contents.
    Json body = Json::parse(whole::input_proof.body(77));
    body["contractChainId"] = "9007199254740993";
    const std::string one = box.post(whole::input_proof.path, body.dump()).job_id();
    body["contractChainId"] = "9007199254740992";
    CHECK(box.post(whole::input_proof.path, body.dump()).job_id() != one);
}

TEST_CASE("a duration up to the last u64 reaches the chain as it was sent (field report 73)") {
    Box box;
    box.contracts.answer = engine::SignatureValid{};
    for (const char* seconds : {"9007199254740993", "18446744073709551615"}) {
        CAPTURE(seconds);
        Json body = Json::parse(whole::unified_decrypt.body(std::strlen(seconds)));
        body["attestedPayload"]["requestValidity"]["durationSeconds"] = seconds;
        REQUIRE(box.post(whole::unified_decrypt.path, body.dump()).status == 202);
        box.run_for(1s);
        const auto& request =
            std::get<domain::UnifiedUserDecrypt>(*box.world.gateway.prepares.back().request);
        CHECK(std::to_string(request.duration_seconds) == seconds);
    }
}

}  // namespace
