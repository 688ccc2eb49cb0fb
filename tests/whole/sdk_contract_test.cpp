// What the published client library requires of our answers, rule by rule (sdk-client-contract).
// Rules about connections are tested with the HTTP server, rule 13 with the restarts.

#include <chrono>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "box.hpp"
#include "routes.hpp"

namespace {

using namespace std::chrono_literals;
using api_test::Answer;
using api_test::Call;
using api_test::Json;
using domain::Reason;
using domain::Status;
using whole::Box;
using whole::Route;

bool matches(const Json& text, const char* pattern) {
    return text.is_string() &&
           std::regex_match(text.get_ref<const std::string&>(), std::regex(pattern));
}

// Bytes whose hex digits are letters and of both kinds.
domain::Bytes bytes(std::size_t count, std::uint8_t first) {
    domain::Bytes made(count);
    for (std::size_t i = 0; i < count; ++i) made[i] = static_cast<std::uint8_t>(first + i * 7);
    return made;
}

// Posts, lets the chain include it, gives these answers, and polls.
Answer answered(Box& box, const Route& route, const std::vector<engine::AnswerBody>& bodies) {
    const std::string job = box.post(route.path, route.body()).job_id();
    box.run_for(1s);
    for (const engine::AnswerBody& body : bodies) box.world.gateway.answer(Box::id_of(job), body);
    box.run_for(1s);
    return box.poll(route.path, job);
}

std::vector<engine::AnswerBody> nine_shares() {
    std::vector<engine::AnswerBody> shares;
    for (std::uint32_t index = 1; index <= 9; ++index) shares.push_back(support::kms_share(index));
    return shares;
}

TEST_CASE("sdk-client-contract 1.1: a POST that is taken is 202 with strings for both ids") {
    for (const Route& route : whole::routes) {
        CAPTURE(route.path);
        Box box;
        for (const char* which : {"new", "duplicate"}) {
            CAPTURE(which);
            const Answer answer = box.post(route.path, route.body());
            CHECK(answer.status == 202);
            CHECK(answer.json["status"] == "queued");
            CHECK(answer.json["requestId"].is_string());
            CHECK(answer.json["result"]["jobId"].is_string());
        }
    }
}

TEST_CASE("sdk-client-contract 1.2: unfinished is 202 and queued, whatever is being done") {
    for (const Route& route : whole::routes) {
        CAPTURE(route.path);
        Box box;
        const std::string job = box.post(route.path, route.body()).job_id();
        std::set<std::string> states;
        for (int i = 0; i < 100; ++i) {
            const Answer answer = box.poll(route.path, job);
            CHECK(answer.status == 202);
            CHECK(answer.json["status"] == "queued");
            CHECK(answer.json["requestId"].is_string());
            states.insert(answer.text("/state"));
            box.run_for(1ms);
        }
        CHECK(states.size() == (route.readiness ? 4 : 3));
    }
}

TEST_CASE("sdk-client-contract 1.3: finished is 200, succeeded, with a result") {
    for (const Route& route : whole::routes) {
        CAPTURE(route.path);
        Box box;
        box.answer_everything();
        const std::string job = box.post(route.path, route.body()).job_id();
        const Answer answer = box.follow(route.path, job);
        CHECK(answer.status == 200);
        CHECK(answer.json["status"] == "succeeded");
        CHECK(answer.json["requestId"].is_string());
        CHECK(answer.json["result"].is_object());
    }
}

TEST_CASE("sdk-client-contract 1.4: refusals have a label and a message, and details when due") {
    const auto check = [](const Answer& answer, int status, const char* label) {
        CAPTURE(answer.body);
        CHECK(answer.status == status);
        CHECK(answer.text("/status") == "failed");
        CHECK(answer.label() == label);
        CHECK_FALSE(answer.message().empty());
        const bool due =
            label == std::string("validation_failed") || label == std::string("missing_fields");
        CHECK(answer.details().is_array() == due);
        const Json details = answer.details();
        for (Json entry : due ? details : Json::array()) {
            CHECK(entry["field"].is_string());
            CHECK(entry["issue"].is_string());
        }
    };
    for (const Route& route : whole::routes) {
        CAPTURE(route.path);
        Box box;
        check(box.post(route.path, "{"), 400, "malformed_json");
        check(box.post(route.path, "{}"), 400, "missing_fields");
        check(box.post(route.path, "[]"), 400, "validation_failed");
        check(box.poll(route.path, "0197a7f0-0000-7000-8000-000000000001"), 404, "not_found");
        box.world.gateway.on_prepare = [](const engine::PrepareOrder&) {
            return engine::Rejected{{Reason::reverted, "reverted", 0x2a873d27}};
        };
        check(box.follow(route.path, box.post(route.path, route.body()).job_id()), 400,
              "validation_failed");
    }
}

TEST_CASE("sdk-client-contract 1.5: our additional members, and none inside a share") {
    const auto names = [](const Json& object) {
        std::set<std::string> found;
        for (const auto& [name, value] : object.items()) found.insert(name);
        return found;
    };
    using Names = std::set<std::string>;
    Box box;
    const Route& route = whole::user_decrypt;
    const Answer posted = box.post(route.path, route.body());
    CHECK(names(posted.json) == Names{"status", "requestId", "result", "job_id", "eta_seconds"});
    CHECK(names(box.poll(route.path, posted.job_id()).json) ==
          Names{"status", "requestId", "state", "eta_seconds", "elapsed_seconds"});
    const Answer ended = answered(box, route, nine_shares());
    for (Json share : ended.json["result"]["result"]) {
        CHECK(names(share) == Names{"payload", "signature", "extraData"});
    }
}

TEST_CASE("sdk-client-contract 1.6: a GET is never 429, also when every gate is full") {
    Box box;
    auto& options = box.world.engine.options;
    options.readiness = {{1, 1, 1}, {1, 1, 1}};
    options.sending = {{1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}};
    for (const Route& route : whole::routes) {
        CAPTURE(route.path);
        CHECK(box.post(route.path, route.body()).status == 429);
        for (int i = 0; i < 50; ++i) {
            CHECK(box.poll(route.path, "0197a7f0-0000-7000-8000-000000000001").status == 404);
        }
    }
}

TEST_CASE("sdk-client-contract 1.7: prefixes and letter case of every hex text") {
    const char* const lower_32 = "0x[0-9a-f]{64}";
    const char* const prefixed_65 = "0x[0-9a-fA-F]{130}";
    const char* const bare_65 = "[0-9a-fA-F]{130}";
    const char* const bare = "([0-9a-fA-F]{2})+";
    const char* const prefixed = "0x([0-9a-fA-F]{2})*";

    domain::Bytes32 handle{};
    handle.fill(0xAB);
    const domain::Bytes signature = bytes(65, 0xA0);
    {
        Box box;
        Json result = answered(box, whole::input_proof,
                               {domain::ProofAccepted{{handle, handle}, {signature, signature}}})
                          .json["result"];
        REQUIRE(result["handles"].size() == 2);
        for (const Json& text : result["handles"]) CHECK(matches(text, lower_32));
        for (const Json& text : result["signatures"]) CHECK(matches(text, prefixed_65));
        CHECK(matches(result["extraData"], prefixed));
    }
    {
        Box box;
        Json result = answered(box, whole::input_proof, {engine::ProofRejected{}}).json["result"];
        CHECK(result["accepted"] == false);
        CHECK(matches(result["extraData"], prefixed));
    }
    for (const domain::Bytes& extra : {domain::Bytes{}, domain::Bytes{0}, bytes(33, 0xC1)}) {
        Box box;
        Json result = answered(box, whole::public_decrypt,
                               {domain::PublicDecrypted{bytes(64, 0xBE), {signature}, extra}})
                          .json["result"];
        CHECK(matches(result["decryptedValue"], bare));
        CHECK(matches(result["signatures"][0], bare_65));
        CHECK(result["extraData"] == "0x" + domain::to_hex(extra));
    }
    for (const Route& route :
         {whole::user_decrypt, whole::delegated_decrypt, whole::unified_decrypt}) {
        CAPTURE(route.path);
        Box box;
        std::vector<engine::AnswerBody> shares;
        for (std::uint32_t index = 1; index <= 9; ++index) {
            shares.push_back(domain::KmsShare{index, bytes(80, 0xD0), signature,
                                              index % 2 == 0 ? domain::Bytes{} : bytes(1, 0)});
        }
        Json result = answered(box, route, shares).json["result"];
        REQUIRE(result["result"].size() == 9);
        for (Json share : result["result"]) {
            CHECK(matches(share["payload"], bare));
            CHECK(matches(share["signature"], bare_65));
            CHECK(matches(share["extraData"], prefixed));
        }
    }
}

TEST_CASE("sdk-client-contract 1.8, T-071 (its format): shares are nested and have no extra_data") {
    for (const Route& route :
         {whole::user_decrypt, whole::delegated_decrypt, whole::unified_decrypt}) {
        CAPTURE(route.path);
        Box box;
        const Answer answer = answered(box, route, nine_shares());
        REQUIRE(answer.json["result"]["result"].is_array());
        CHECK(answer.json["result"].size() == 1);
        CHECK(answer.body.find("extra_data") == std::string::npos);
    }
}

TEST_CASE("sdk-client-contract 1.9: lists are served as the event carried them") {
    std::vector<domain::Bytes32> handles;
    for (const std::uint64_t number : {9U, 1U, 9U, 4U}) handles.push_back(support::handle(number));
    const std::vector<domain::Bytes> signatures{bytes(65, 9), bytes(65, 1), bytes(65, 9)};
    Json wanted_handles = Json::array();
    Json wanted_signatures = Json::array();
    Json bare_signatures = Json::array();
    for (const auto& handle : handles) wanted_handles.push_back("0x" + domain::to_hex(handle));
    for (const auto& signature : signatures) {
        wanted_signatures.push_back("0x" + domain::to_hex(signature));
        bare_signatures.push_back(domain::to_hex(signature));
    }
    Box proof;
    Json result = answered(proof, whole::input_proof, {domain::ProofAccepted{handles, signatures}})
                      .json["result"];
    CHECK(result["handles"] == wanted_handles);
    CHECK(result["signatures"] == wanted_signatures);

    // An accepted proof with an empty list is still accepted (1.8).
    Box empty;
    CHECK(answered(empty, whole::input_proof, {domain::ProofAccepted{}}).json["result"] ==
          Json{{"accepted", true},
               {"extraData", "0x00"},
               {"handles", Json::array()},
               {"signatures", Json::array()}});

    Box value;
    CHECK(answered(value, whole::public_decrypt, {domain::PublicDecrypted{{1}, signatures, {0}}})
              .json["result"]["signatures"] == bare_signatures);
}

TEST_CASE("sdk-client-contract 1.10: the ciphertext goes to the chain byte for byte") {
    for (const char* file : {"input-proof-1-value.json", "input-proof-4-values.json",
                             "input-proof-8-values.json", "input-proof-2048-bits.json"}) {
        CAPTURE(file);
        Box box;
        REQUIRE(box.post(whole::input_proof.path, api_test::sample(file)).status == 202);
        box.run_for(1s);
        REQUIRE(box.world.gateway.prepares.size() == 1);
        const auto& sent = std::get<domain::InputProof>(*box.world.gateway.prepares[0].request);
        const std::string text =
            Json::parse(api_test::sample(file))["ciphertextWithInputVerification"];
        CHECK(domain::to_hex(sent.ciphertext) == text);
    }
}

struct ExtraDataOf {
    template <typename Request>
    domain::Bytes operator()(const Request& request) const {
        return request.extra_data;
    }
    domain::Bytes operator()(const domain::VoteShare&) const { return {}; }
};

TEST_CASE("sdk-client-contract 1.11: extraData goes to the chain and back unchanged") {
    const std::string context = "0x0107" + std::string(62, '1');
    const std::string epoch = "0x0207" + std::string(62, '2') + "08" + std::string(62, '3');
    for (const Route& route : whole::routes) {
        for (const std::string& extra : {std::string("0x00"), context, epoch}) {
            if (route.kind == domain::Kind::input_proof && extra != "0x00") continue;
            CAPTURE(route.path);
            CAPTURE(extra);
            const std::string member = route.kind == domain::Kind::unified_user_decrypt
                                           ? "attestedPayload.extraData"
                                           : "extraData";
            Box box;
            box.contracts.answer = engine::SignatureValid{};
            REQUIRE(box.post(route.path, api_test::sample_with(route.file, member, extra)).status ==
                    202);
            box.run_for(1s);
            REQUIRE(box.world.gateway.prepares.size() == 1);
            const auto sent = std::visit(ExtraDataOf{}, *box.world.gateway.prepares[0].request);
            CHECK("0x" + domain::to_hex(sent) == extra);
        }
    }
}

TEST_CASE("sdk-client-contract 2: only statuses whose body the library reads") {
    const std::set<int> on_post{202, 400, 429, 500, 503};
    const std::set<int> on_get{200, 202, 400, 404, 500, 503};
    Box box;
    std::set<int> posted;
    std::set<int> polled;
    const auto post = [&](const Route& route, const std::string& body) {
        const Answer answer = box.post(route.path, body);
        CAPTURE(answer.body);
        CHECK(answer.json.is_object());
        posted.insert(answer.status);
        return answer;
    };
    const auto poll = [&](const Route& route, const std::string& job) {
        const Answer answer = box.poll(route.path, job);
        CAPTURE(answer.body);
        CHECK(answer.json.is_object());
        polled.insert(answer.status);
    };
    std::optional<engine::PrepareOutcome> outcome;
    box.world.gateway.on_prepare =
        [&](const engine::PrepareOrder&) -> std::optional<engine::PrepareOutcome> {
        return outcome;
    };
    box.answer_everything();
    std::uint64_t number = 0;
    for (const Route& route : whole::routes) {
        post(route, "{");
        post(route, "{}");
        post(route, std::string(2'097'153, ' '));
        for (const std::optional<std::uint32_t> selector :
             {std::optional<std::uint32_t>(), std::optional<std::uint32_t>(0xd93c0665),
              std::optional<std::uint32_t>(0x2a873d27)}) {
            outcome = engine::Rejected{{Reason::reverted, "reverted", selector}};
            const std::string job = post(route, route.body(++number)).job_id();
            poll(route, job);
            box.run_for(1s);
            poll(route, job);
        }
        outcome = engine::Plan{};
        const std::string job = post(route, route.body(++number)).job_id();
        box.run_for(1s);
        poll(route, job);
        poll(route, "not-a-uuid");
        poll(route, "0197a7f0-0000-7000-8000-000000000001");
    }
    box.crash();
    box.world.engine.options.sending = {{1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}};
    box.restart();
    for (const Route& route : whole::routes) post(route, route.body(++number));
    box.world.engine.process().inbox.close();
    for (const Route& route : whole::routes) post(route, route.body(++number));

    CHECK(posted == std::set<int>{202, 400, 429, 503});
    CHECK(polled == on_get);
    for (const int status : posted) CHECK(on_post.contains(status));
}

TEST_CASE("sdk-client-contract 4: Retry-After is whole seconds from 1 on, where it is read") {
    static const std::regex seconds("[1-9][0-9]*");
    Box box;
    auto& retry_after = box.world.engine.options.retry_after;
    retry_after.input_proof_processing = 0ms;  // as little as can be computed
    retry_after.tx_confirmation = 0ms;
    retry_after.copro_kms_backoff_intervals = {};
    for (const Route& route : whole::routes) {
        CAPTURE(route.path);
        const Answer posted = box.post(route.path, route.body());
        CHECK(std::regex_match(posted.header("Retry-After"), seconds));
        for (int i = 0; i < 60; ++i) {
            const Answer polled = box.poll(route.path, posted.job_id());
            CHECK(std::regex_match(polled.header("Retry-After"), seconds));
            box.run_for(2ms);
        }
    }
    box.crash();
    box.world.engine.options.sending.input_proof = {1, 1, 1, 1};
    box.restart();
    const Answer bounced = box.post(whole::input_proof.path, whole::input_proof.body(5));
    CHECK(bounced.status == 429);
    CHECK(std::regex_match(bounced.header("Retry-After"), seconds));
}

TEST_CASE("sdk-client-contract 6: what the library sends along does no harm") {
    const std::vector<std::vector<std::pair<std::string, std::string>>> headers{
        {{"zama-sdk-name", "@zama-fhe/relayer-sdk"}, {"zama-sdk-version", "0.4.2"}},
        {{"x-api-key", "key"}},
        {{"authorization", "Bearer token"}},
        {{"cookie", "x-api-key=key;"}},
        {{"accept-encoding", "gzip, deflate"}},
    };
    Box box;
    for (const Route& route : whole::routes) {
        for (auto more : headers) {
            CAPTURE(route.path);
            CAPTURE(more.front().first);
            more.emplace_back("content-type", "application/json");
            const Answer answer = box.send({"POST", route.path, route.body(), more});
            CHECK(answer.status == 202);
            CHECK_FALSE(answer.has("Content-Encoding"));
            more.pop_back();
            CHECK(box.send({"GET", std::string(route.path) + "/" + answer.job_id(), {}, more})
                      .status == 202);
        }
    }
}

TEST_CASE("sdk-client-contract 8: exactly the threshold of shares, one with a single node") {
    for (const std::uint32_t threshold : {1U, 3U, 5U, 9U}) {
        CAPTURE(threshold);
        Box box;
        box.world.engine.options.user_decrypt_shares_threshold = threshold;
        box.answer_everything();
        const Route& route = whole::user_decrypt;
        const Answer answer = box.follow(route.path, box.post(route.path, route.body()).job_id());
        CHECK(answer.json["result"]["result"].size() == threshold);
    }
}

}  // namespace
