// The HTTP cases A1 to A14 of share-helper 8, and those it adds.

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "api/share_calls.hpp"

namespace {

using api_test::Answer;
using api_test::check_json;
using api_test::duplicate;
using api_test::error;
using api_test::Harness;
using api_test::Json;
using api_test::queued;
using api_test::round_id;
using api_test::sample_share;
using api_test::share_base;
using api_test::share_path;
using api_test::VotePorts;
using api_test::with_check;

const std::string spec_nullifier = "00ff" + std::string(58, '7') + "a1";
const std::string spec_status_path = share_base + "share-status/" + round_id + "/" + spec_nullifier;
constexpr std::uint64_t vote_end = 4'102'444'800;

std::string sample_with(const std::string& path, const Json& value) {
    return api_test::sample_with("vote-share.json", path, value);
}

Answer ask(Harness& harness, const std::string& method, const std::string& path,
           const std::string& token = {}) {
    std::vector<std::pair<std::string, std::string>> headers;
    if (!token.empty()) headers.emplace_back("X-Helper-Token", token);
    return harness.send({method, path, method == "POST" ? sample_share() : "", std::move(headers)});
}

api::Options with_queue(const std::string& token = {}) {
    api::Options options;
    options.share_expose_queue_status = true;
    options.access.share_api_token = token;
    return options;
}

TEST_CASE("A1 valid POST: queued, and one share is in the queue") {
    Harness harness(with_queue());
    check_json(harness.post(share_path, sample_share()), 200, queued);
    CHECK(harness.get(share_base + "queue-status").json[round_id]["total"] == 1);
}

TEST_CASE("A2 share-status: the port gets the exact round and spec_nullifier, and says it") {
    Harness harness({}, {}, {.nullifiers = true});
    check_json(harness.get(spec_status_path), 200, {{"status", "pending"}});
    harness.nullifiers.answer = engine::Revealed{};
    check_json(harness.get(spec_status_path), 200, {{"status", "confirmed"}});
    REQUIRE(harness.nullifiers.asked.size() == 2);
    CHECK(domain::to_hex(harness.nullifiers.asked[0].first) == round_id);
    CHECK(domain::to_hex(harness.nullifiers.asked[0].second) == spec_nullifier);
}

TEST_CASE("A3 a body that is no JSON: 400") {
    Harness harness;
    const Answer answer = harness.post(share_path, "not json");
    CHECK(answer.status == 400);
    CHECK(answer.text("/error").starts_with("invalid JSON:"));
}

TEST_CASE("A4 wrong fields: 400 that names the field") {
    struct Row {
        const char* path;
        Json value;
        const char* field;
    };
    const std::vector<Row> rows{{"shares_hash", "!!!", "shares_hash"},
                                {"enc_share.share_index", 16, "enc_share.share_index"},
                                {"vote_decision", 8, "vote_decision"},
                                {"vote_round_id", "ZZ", "vote_round_id"}};
    Harness harness;
    for (const Row& row : rows) {
        CAPTURE(row.path);
        const Answer answer = harness.post(share_path, sample_with(row.path, row.value));
        CHECK(answer.status == 400);
        CHECK(answer.text("/status") == "error");
        CHECK(answer.text("/error").starts_with(row.field));
    }
    CHECK(harness.submitter.requests.empty());
}

TEST_CASE("A5 status: ok with and without shares, and no counts in the body") {
    Harness harness;
    check_json(harness.get(share_base + "status"), 200, {{"status", "ok"}});
    CHECK(harness.post(share_path, sample_share()).status == 200);
    check_json(harness.get(share_base + "status"), 200, {{"status", "ok"}});
}

TEST_CASE("A6 queue-status that is disabled: 404, whoever asks") {
    api::Options options;
    options.access.share_api_token = "correct horse";
    for (const bool disabled : {false, true}) {
        options.share_disable = disabled;
        Harness harness(options);
        for (const char* token : {"", "wrong", "correct horse"}) {
            check_json(ask(harness, "GET", share_base + "queue-status", token), 404,
                       error("not found"));
        }
        check_json(ask(harness, "POST", share_base + "queue-status"), 404, error("not found"));
    }
}

TEST_CASE("A7 queue-status with a token: 401 without it, the counts with it") {
    Harness harness(with_queue("correct horse"));
    CHECK(ask(harness, "POST", share_path, "correct horse").status == 200);
    check_json(ask(harness, "GET", share_base + "queue-status"), 401, error("unauthorized"));
    check_json(ask(harness, "GET", share_base + "queue-status", "wrong"), 401,
               error("unauthorized"));
    check_json(ask(harness, "GET", share_base + "queue-status", "correct horse"), 200,
               {{round_id, {{"total", 1}, {"pending", 1}, {"submitted", 0}, {"failed", 0}}}});
}

TEST_CASE("A8 nothing to store shares in: 503, and 200 as soon as there is") {
    api::Options options = with_queue();
    options.share_disable = true;
    Harness off(options);
    const std::vector<std::pair<std::string, std::string>> calls{
        {"POST", share_path},
        {"GET", spec_status_path},
        {"GET", share_base + "status"},
        {"GET", share_base + "queue-status"}};
    for (const auto& [method, path] : calls) {
        CAPTURE(path);
        const Answer answer = ask(off, method, path);
        check_json(answer, 503, error("helper unavailable"));
        CHECK(answer.header("Retry-After") == "4");
    }
    Harness on(with_queue());
    for (const auto& [method, path] : calls) CHECK(ask(on, method, path).status == 200);

    on.submitter.forced = engine::Unavailable{"the disk is full", 3};
    check_json(on.post(share_path, sample_share()), 503, error("helper unavailable"));
    on.submitter.forced.reset();
    CHECK(on.post(share_path, sample_share()).status == 200);
}

TEST_CASE("A9 the same POST twice: duplicate") {
    Harness harness;
    check_json(harness.post(share_path, sample_share()), 200, queued);
    check_json(harness.post(share_path, sample_share()), 200, duplicate);
}

TEST_CASE("A10 field 55: the same place with another shares_hash: 409") {
    Harness harness;
    CHECK(harness.post(share_path, sample_share()).status == 200);
    const Json other = Json::parse(sample_share())["primary_blind"];
    check_json(harness.post(share_path, sample_with("shares_hash", other)), 409,
               error("conflicting share payload for round_id/share_index"));
    check_json(harness.post(share_path, sample_share()), 200, duplicate);
}

TEST_CASE("A11 POST with a token: 401 without it or with another, 200 with it") {
    api::Options options;
    options.access.share_api_token = "correct horse";
    Harness harness(options);
    check_json(ask(harness, "POST", share_path), 401, error("unauthorized"));
    check_json(ask(harness, "POST", share_path, "wrong"), 401, error("unauthorized"));
    check_json(ask(harness, "POST", share_path, "correct horse"), 200, queued);
}

TEST_CASE("A12 cross-check: an equal leaf passes, another or none is refused by name") {
    Harness harness({}, {}, with_check);
    const std::string refused = "invalid vote commitment";
    check_json(harness.post(share_path, sample_share()), 400,
               error(refused + ": no leaf at position 4211"));
    harness.trees.found = domain::Bytes32{8};
    check_json(harness.post(share_path, sample_share()), 400,
               error(refused + ": hash mismatch at position 4211"));
    CHECK(harness.submitter.requests.empty());
    harness.trees.found = domain::Bytes32{7};
    check_json(harness.post(share_path, sample_share()), 200, queued);

    const auto& [asked_round, asked_position] = harness.trees.leaves_asked.back();
    CHECK(domain::to_hex(asked_round) == round_id);
    CHECK(asked_position == 4211);
    const auto& share = std::get<domain::VoteShare>(harness.submitter.requests.back());
    CHECK(harness.commitments.asked.round_id == share.round_id);
    CHECK(harness.commitments.asked.shares_hash == share.shares_hash);
    CHECK(harness.commitments.asked.proposal_id == 3);
    CHECK(harness.commitments.asked.vote_decision == 1);
}

TEST_CASE("A13 a port of the cross-check is absent: accepted unchecked") {
    for (const VotePorts ports :
         {VotePorts{}, VotePorts{.trees = true}, VotePorts{.commitments = true}}) {
        Harness harness({}, {}, ports);
        check_json(harness.post(share_path, sample_share()), 200, queued);
        CHECK(harness.trees.leaves_asked.empty());
    }
}

TEST_CASE("A14 a round the directory does not know: 400, and nothing is stored") {
    Harness harness;
    harness.rounds.rounds.clear();
    const Answer answer = harness.post(share_path, sample_share());
    CHECK(answer.status == 400);
    CHECK(answer.text("/error").find("unknown voting round") != std::string::npos);
    CHECK(harness.submitter.requests.empty());
}

TEST_CASE("further: submit_at equal to vote_end_time accepted, a second later refused") {
    Harness harness;
    check_json(harness.post(share_path, sample_with("submit_at", vote_end)), 200, queued);
    check_json(harness.post(share_path, sample_with("submit_at", vote_end + 1)), 400,
               error("invalid submit_at: submit_at (4102444801) > vote_end_time (4102444800)"));
}

TEST_CASE("further: resend with a different submit_at is duplicate and keeps the first time") {
    Harness harness;
    check_json(harness.post(share_path, sample_with("submit_at", vote_end - 9)), 200, queued);
    check_json(harness.post(share_path, sample_with("submit_at", vote_end - 5)), 200, duplicate);
    CHECK(harness.submitter.stored() == 1);
    CHECK(std::get<domain::VoteShare>(harness.submitter.requests.front()).submit_at ==
          vote_end - 9);
}

TEST_CASE("further: 1 MiB + 1 byte gives 400") {
    Harness harness;
    std::string body = sample_share();
    body.resize(1'048'577, ' ');
    const Answer answer = harness.post(share_path, body);
    CHECK(answer.status == 400);
    CHECK(answer.text("/error").starts_with("invalid JSON:"));
    body.pop_back();
    CHECK(harness.post(share_path, body).status == 200);
}

TEST_CASE("further: unknown member ignored") {
    Harness harness;
    Json body = Json::parse(sample_share());
    body["all_enc_shares"] = Json::array({{{"c1", "x"}, {"unheard_of", {1, 2}}}});
    body["enc_share"]["spare"] = nullptr;
    check_json(harness.post(share_path, body.dump()), 200, queued);
    check_json(harness.post(share_path, sample_share()), 200, duplicate);
}

TEST_CASE("field 73: times and positions are taken to the last digit or refused") {
    struct Row {
        std::string submit_at;  // letter by letter
        std::string error;      // its beginning
    };
    const std::vector<Row> rows{
        {"9007199254740993",
         "invalid submit_at: submit_at (9007199254740993) > vote_end_time (4102444800)"},
        {"18446744073709551615",
         "invalid submit_at: submit_at (18446744073709551615) > vote_end_time (4102444800)"},
        {"-1", "invalid JSON:"},
        {"1.5", "invalid JSON:"},
        {"\"5\"", "invalid JSON:"},
    };
    Harness harness;
    const std::string marked = sample_with("submit_at", "HERE");
    for (const Row& row : rows) {
        CAPTURE(row.submit_at);
        std::string body = marked;
        body.replace(body.find("\"HERE\""), 6, row.submit_at);
        const Answer answer = harness.post(share_path, body);
        CHECK(answer.status == 400);
        CHECK(answer.text("/error").starts_with(row.error));
    }
    check_json(harness.post(share_path, sample_with("tree_position", 9'223'372'036'854'775'808U)),
               400, error("tree_position 9223372036854775808 exceeds maximum tree capacity"));
    CHECK(harness.submitter.requests.empty());
}

}  // namespace
