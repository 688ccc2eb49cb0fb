// What can be asked about shares (share-helper 1.4 to 1.7) beside the cases of shares_spec_test.

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "api/share_calls.hpp"

namespace {

using api_test::Answer;
using api_test::check_json;
using api_test::error;
using api_test::Harness;
using api_test::Json;
using api_test::round_id;
using api_test::share_base;
using api_test::share_path;
using api_test::VotePorts;
using namespace std::chrono_literals;

const std::string nullifier(64, 'b');

constexpr VotePorts with_nullifiers{.nullifiers = true};
constexpr VotePorts with_trees{.trees = true};

const Json internal_error = error("internal error");

std::string path_of(const std::string& round, const std::string& name) {
    return share_base + "share-status/" + round + "/" + name;
}

std::string upper_hex(std::string text) {
    for (char& c : text) c = c >= 'a' && c <= 'f' ? static_cast<char>(c - 'a' + 'A') : c;
    return text;
}

TEST_CASE("the parts of share-status are trimmed, and refused in the order of the page") {
    const std::string no_hex(64, 'g');
    struct Row {
        std::string round;
        std::string name;
        std::string error;  // empty: asked
    };
    const std::vector<Row> rows{
        {"", nullifier, "roundId must be 64 hex characters"},
        {"", "", "roundId must be 64 hex characters"},
        {round_id, "", "nullifier must be 64 hex characters"},
        {"x", "y", "roundId must be 64 hex characters"},
        {round_id + "0", nullifier, "roundId must be 64 hex characters"},
        {no_hex, "y", "nullifier must be 64 hex characters"},
        {round_id, nullifier.substr(1), "nullifier must be 64 hex characters"},
        {no_hex, no_hex, "invalid roundId hex"},
        {round_id, no_hex, "invalid nullifier hex"},
        {round_id.substr(1) + "%2F", nullifier, "invalid roundId hex"},
        {"%20", "%09", "roundId must be 64 hex characters"},
        {round_id, nullifier, ""},
        {upper_hex(round_id), upper_hex(nullifier), ""},
        {"%20" + round_id + "%0a", "%09" + nullifier + "%20%20", ""},
        {"%30a" + round_id.substr(2), nullifier.substr(1) + "%62", ""},
    };
    Harness harness({}, {}, with_nullifiers);
    for (const Row& row : rows) {
        CAPTURE(row.round);
        CAPTURE(row.name);
        harness.nullifiers.asked.clear();
        const Answer answer = harness.get(path_of(row.round, row.name));
        check_json(answer, row.error.empty() ? 200 : 400,
                   row.error.empty() ? Json{{"status", "pending"}} : error(row.error));
        REQUIRE(harness.nullifiers.asked.size() == (row.error.empty() ? 1 : 0));
        if (!row.error.empty()) continue;
        CHECK(domain::to_hex(harness.nullifiers.asked[0].first) == round_id);
        CHECK(domain::to_hex(harness.nullifiers.asked[0].second) == nullifier);
    }
}

TEST_CASE("paths beside those of the table are unknown, with the body of an error") {
    Harness harness;
    for (const std::string rest : {"", "x", "share-status", "share-status/", "share-status/a",
                                   "share-status/a/b/", "share-status/a//b", "share-status//a/b",
                                   "share-status/a/b/c", "status/", "shares/1", "queue-status/"}) {
        CAPTURE(rest);
        check_json(harness.get(share_base + rest), 404, error("not found"));
    }
    check_json(harness.get("/shielded-vote/"), 404, error("not found"));
    check_json(harness.get("/shielded-vote/v2/status"), 404, error("not found"));
    const Answer elsewhere = harness.get("/shielded-votes/v1/status");
    CHECK(elsewhere.status == 404);
    CHECK(elsewhere.body.empty());
}

TEST_CASE("share-status says pending without a port, and whether or not a share is stored here") {
    Harness harness;
    check_json(harness.get(path_of(round_id, nullifier)), 200, {{"status", "pending"}});
    CHECK(harness.post(share_path, api_test::sample("vote-share.json")).status == 200);
    check_json(harness.get(path_of(round_id, nullifier)), 200, {{"status", "pending"}});
    check_json(harness.get(path_of("x", nullifier)), 400,
               error("roundId must be 64 hex characters"));
}

TEST_CASE("a nullifier port that fails is a 500 and a report without its URL") {
    Harness harness({}, {}, with_nullifiers);
    harness.nullifiers.answer = engine::Unreachable{"get https://user:pw@chain.example/x"};
    check_json(harness.get(path_of(round_id, nullifier)), 500, internal_error);
    CHECK(harness.logger.count("nullifier_check_failed stage=nullifier_check call=") == 1);
    CHECK(harness.logger.count("round_id=" + round_id) == 1);
    CHECK(harness.logger.count("chain.example") == 0);

    harness.nullifiers.defect = "out of luck";
    check_json(harness.get(path_of(round_id, nullifier)), 500, internal_error);
    CHECK(harness.logger.count("share_call_failed stage=nullifier_check call=") == 1);
    CHECK(harness.logger.lines().back().level == ports::LogLevel::error);
    CHECK(harness.logger.count("out of luck") == 1);
}

TEST_CASE("share routes look at the token before the parts, status looks at none") {
    api::Options options;
    options.access.share_api_token = "correct horse";
    Harness harness(options, {}, with_nullifiers);
    check_json(harness.get(path_of("x", "y")), 401, error("unauthorized"));
    CHECK(harness.send({"GET", path_of("x", "y"), {}, {{"X-Helper-Token", "correct horse"}}})
              .status == 400);
    check_json(harness.get(share_base + "status"), 200, {{"status", "ok"}});
    CHECK(harness.send({"GET", share_base + "status", {}, {{"X-Helper-Token", "wrong"}}}).status ==
          200);
}

TEST_CASE("other methods are 405 with what is allowed, HEAD is GET without a body") {
    api::Options options;
    options.share_expose_queue_status = true;
    Harness harness(options);
    for (const std::string& path :
         {path_of(round_id, nullifier), share_base + "status", share_base + "queue-status"}) {
        CAPTURE(path);
        for (const char* method : {"POST", "PUT", "DELETE"}) {
            const Answer answer = harness.send({method, path, {}, {}});
            check_json(answer, 405, error("wrong method: send GET"));
            CHECK(answer.header("Allow") == "GET, HEAD");
        }
        Answer head = harness.send({"HEAD", path, {}, {}});
        CHECK(head.status == 200);
        CHECK(head.body.empty());
        Answer whole = harness.get(path);
        for (Answer* const answer : {&head, &whole}) answer->headers.erase("Date");
        CHECK(head.headers == whole.headers);
    }
    const Answer answer = harness.get(share_path);
    check_json(answer, 405, error("wrong method: send POST"));
    CHECK(answer.header("Allow") == "POST");
}

TEST_CASE("status shows the tree of the active round, or none") {
    Harness harness({}, {}, with_trees);
    const auto status = [&] {
        harness.clock.advance(11s);
        return harness.get(share_base + "status");
    };
    check_json(status(), 200,
               {{"status", "ok"}, {"tree", {{"leaf_count", 4212}, {"anchor_height", 90233}}}});
    harness.trees.active = engine::UnknownRound{};
    check_json(status(), 200, {{"status", "ok"}});
    CHECK(harness.logger.count("tree_status") == 0);

    harness.trees.active = engine::Unreachable{"get https://user:pw@chain.example/x"};
    check_json(status(), 200, {{"status", "ok"}});
    CHECK(harness.logger.count("tree_status_failed stage=tree_status ") == 1);
    CHECK(harness.logger.count("chain.example") == 0);

    harness.trees.defect = "out of luck";
    check_json(status(), 200, {{"status", "ok"}});
    harness.trees.defect.reset();
    harness.trees.active = engine::TreeStatus{1, 2};
    check_json(status(), 200,
               {{"status", "ok"}, {"tree", {{"leaf_count", 1}, {"anchor_height", 2}}}});
}

TEST_CASE("however often status is asked, the tree is read once a second") {
    Harness harness({}, {}, with_trees);
    for (int i = 0; i < 100; ++i) {
        CHECK(harness.get(share_base + "status").json.contains("tree"));
        harness.clock.advance(50ms);
    }
    CHECK(harness.trees.reads == 5);
}

TEST_CASE("queue-status: an empty object without rows, 500 when it can not be read") {
    api::Options options;
    options.share_expose_queue_status = true;
    Harness harness(options);
    check_json(harness.get(share_base + "queue-status"), 200, Json::object());
    domain::Bytes32 other{};
    other[31] = 1;
    harness.queue.forced = std::vector<store::RoundCounts>{{other, 9, 4, 3, 2}, {{}, 1, 0, 1, 0}};
    check_json(
        harness.get(share_base + "queue-status"), 200,
        {{std::string(62, '0') + "01",
          {{"total", 9}, {"pending", 4}, {"submitted", 3}, {"failed", 2}}},
         {std::string(64, '0'), {{"total", 1}, {"pending", 0}, {"submitted", 1}, {"failed", 0}}}});
    harness.queue.forced = engine::Unreadable{"disk https://user:pw@host/"};
    check_json(harness.get(share_base + "queue-status"), 500, internal_error);
    CHECK(harness.logger.count("queue_status_failed stage=queue_status call=") == 1);
    CHECK(harness.logger.count("pw@host") == 0);
}

TEST_CASE("a queue that nobody wired is 503 where it is enabled") {
    Harness parts;
    api::Options options;
    options.share_expose_queue_status = true;
    api::Application app(options, {parts.submitter,
                                   parts.request_reader,
                                   {parts.rounds},
                                   parts.contracts,
                                   parts.health,
                                   parts.keys,
                                   parts.clock,
                                   parts.random,
                                   parts.logger,
                                   parts.long_polls,
                                   parts.observer,
                                   parts.authenticator,
                                   parts.executor,
                                   parts.queries,
                                   parts.queries,
                                   parts.contract_lookups});
    const std::string path = share_base + "queue-status";
    const net::HttpResponse response = app.handle(api_test::head_of({"GET", path, {}, {}}));
    CHECK(response.status == 503);
    CHECK(Json::parse(response.body) == error("helper unavailable"));
}

}  // namespace
