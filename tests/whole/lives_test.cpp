// Requests from the POST to their end, as a client sees them (relayer-api 13.4 to 13.7).

#include <chrono>
#include <set>
#include <string>

#include "box.hpp"
#include "routes.hpp"

namespace {

using namespace std::chrono_literals;
using api_test::Answer;
using api_test::Json;
using domain::Status;
using whole::Box;
using whole::life_of;
using whole::Route;

Json result_of(const Answer& answer) {
    CAPTURE(answer.body);
    REQUIRE(answer.status == 200);
    CHECK(answer.text("/status") == "succeeded");
    CHECK_FALSE(answer.has("Retry-After"));
    return answer.json["result"];
}

void check_nine_shares(Json result) {
    REQUIRE(result["result"].size() == 9);
    for (Json share : result["result"]) {
        CHECK_FALSE(share["payload"].get<std::string>().empty());
        CHECK_FALSE(share["signature"].get<std::string>().empty());
    }
}

TEST_CASE("T-030 a valid input proof that the gateway accepts") {
    Box box;
    box.answer_everything();
    Json result = result_of(life_of(box, whole::input_proof));
    CHECK(result["accepted"] == true);
    CHECK(result["handles"].size() == 1);
    CHECK(result["signatures"].size() == 1);
}

TEST_CASE("D-1: a rejected proof is a good answer and a failed row") {
    Box box;
    box.world.gateway.on_send = [&](const engine::SendOrder& order) {
        box.world.gateway.answer(order.id, engine::ProofRejected{});
        return support::ScriptedGateway::receipt(order);
    };
    Json result = result_of(life_of(box, whole::input_proof));
    CHECK(result == Json{{"accepted", false}, {"extraData", "0x00"}});
    CHECK(box.world.number("select count(*) from request where status = 'failure'") == 1);
}

TEST_CASE("T-031 T-052 T-073 included, never answered: response_timed_out") {
    for (const Route& route : whole::routes) {
        CAPTURE(route.path);
        Box box;
        box.world.engine.options.response_timeout = {5s, 5s, 5s};
        const auto begin = box.world.clock.monotonic();
        const Answer answer = life_of(box, route);
        CHECK(answer.status == 503);
        CHECK(answer.label() == "response_timed_out");
        CHECK(answer.message() == "Gateway chain did not respond within the expected timeframe");
        CHECK(box.world.clock.monotonic() - begin < 20s);
        CHECK(box.world.gateway.sends.size() == 1);
    }
}

TEST_CASE("T-039 the same payload twice in a row is one job") {
    Box box;
    const Answer first = box.post(whole::input_proof.path, whole::input_proof.body());
    const Answer second = box.post(whole::input_proof.path, whole::input_proof.body());
    CHECK(first.status == 202);
    CHECK(second.status == 202);
    CHECK(first.job_id() == second.job_id());
    CHECK(first.text("/requestId") != second.text("/requestId"));
    CHECK(box.rows() == 1);
}

TEST_CASE("T-040 payloads that differ in one field are different jobs") {
    struct Row {
        const char* member;
        Json value;
    };
    const Row rows[] = {{"contractChainId", "8010"},
                        {"contractAddress", "0x" + std::string(40, 'a')},
                        {"userAddress", "0x" + std::string(40, 'b')},
                        {"ciphertextWithInputVerification", "abcd"}};
    Box box;
    std::set<std::string> ids{
        box.post(whole::input_proof.path, whole::input_proof.body()).job_id()};
    for (const Row& row : rows) {
        CAPTURE(row.member);
        const Answer answer =
            box.post(whole::input_proof.path,
                     api_test::sample_with(whole::input_proof.file, row.member, row.value));
        CHECK(answer.status == 202);
        CHECK(ids.insert(answer.job_id()).second);
    }
    CHECK(box.rows() == 5);
    // Spelt in another way it is still the same content (2.2).
    Json same = Json::parse(whole::input_proof.body());
    same["contractChainId"] = 8009;
    std::string address = same["userAddress"];
    for (char& c : address) c = c == 'x' ? c : static_cast<char>(std::tolower(c));
    same["userAddress"] = address;
    CHECK_FALSE(ids.insert(box.post(whole::input_proof.path, same.dump()).job_id()).second);
}

TEST_CASE("T-050 a valid public decrypt") {
    Box box;
    box.answer_everything();
    Json result = result_of(life_of(box, whole::public_decrypt));
    CHECK(result["decryptedValue"] == "010203");
    CHECK(result["signatures"].size() == 1);
    CHECK(result["extraData"] == "0x00");
}

TEST_CASE("T-070 a valid user decrypt, direct and delegated: nine shares") {
    for (const Route& route : {whole::user_decrypt, whole::delegated_decrypt}) {
        CAPTURE(route.path);
        Box box;
        box.answer_everything();
        check_nine_shares(result_of(life_of(box, route)));
    }
}

TEST_CASE("T-110 a valid unified decrypt, polled at v3, as a unified request on the chain") {
    Box box;
    box.answer_everything();
    check_nine_shares(result_of(life_of(box, whole::unified_decrypt)));
    REQUIRE(box.world.gateway.prepares.size() == 1);
    CHECK(domain::kind_of(*box.world.gateway.prepares[0].request) ==
          domain::Kind::unified_user_decrypt);
}

TEST_CASE(
    "T-130 12.2: shares count against the static threshold: the ninth is it, later ones do not") {
    for (const Route& route :
         {whole::user_decrypt, whole::delegated_decrypt, whole::unified_decrypt}) {
        CAPTURE(route.path);
        Box box;
        const std::string job = box.post(route.path, route.body()).job_id();
        box.run_for(1s);
        REQUIRE(box.status(job) == Status::receipt_received);
        for (std::uint32_t index = 13; index > 5; --index) {
            box.world.gateway.answer(Box::id_of(job), support::kms_share(index));
        }
        box.run_for(1s);
        CHECK(box.poll(route.path, job).text("/state") == "receipt_received");
        box.world.gateway.answer(Box::id_of(job), support::kms_share(2));
        box.run_for(1s);
        box.world.gateway.answer(Box::id_of(job), support::kms_share(1));
        box.run_for(1s);
        Json shares = result_of(box.poll(route.path, job))["result"];
        std::string payloads;
        for (Json share : shares) payloads += share["payload"].get<std::string>() + " ";
        CHECK(payloads == "0209 0609 0709 0809 0909 0a09 0b09 0c09 0d09 ");
    }
}

TEST_CASE("1.10: a user decrypt is found on all three poll routes and on no other") {
    Box box;
    box.answer_everything();
    for (const Route& route :
         {whole::user_decrypt, whole::delegated_decrypt, whole::unified_decrypt}) {
        const std::string job = box.post(route.path, route.body()).job_id();
        box.run_for(1s);
        for (const Route& other : whole::routes) {
            CAPTURE(route.path);
            CAPTURE(other.path);
            const bool fits = domain::family_of(other.kind) == domain::Family::user_decrypt;
            CHECK(box.poll(other.path, job).status == (fits ? 200 : 404));
        }
    }
}

}  // namespace
