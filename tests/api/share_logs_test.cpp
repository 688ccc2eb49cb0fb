// What the log says of shares (share-helper 7): that one came, where something failed, and when it
// leaves only if somebody wants it so. Never what is secret in it.

#include <string>

#include <doctest/doctest.h>

#include "api/share_calls.hpp"

namespace {

using api_test::Answer;
using api_test::Harness;
using api_test::Json;
using api_test::share_path;
using api_test::VotePorts;
using api_test::with_check;
using ports::LogLevel;

const std::string round_field =
    " round_id=0a6fb635439fb6850c775a291f639975bd239745ed43dba2a9f220d707e9b55c";

// The one line of this event; empty: there are none or several.
support::RecordingLogger::LogLine line_of(const Harness& harness, const std::string& event) {
    support::RecordingLogger::LogLine found{LogLevel::debug, ""};
    std::size_t lines = 0;
    for (const auto& line : harness.logger.lines()) {
        if (!line.text.starts_with(event + " ")) continue;
        found = line;
        ++lines;
    }
    if (lines != 1) found.text.clear();
    return found;
}

bool holds(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::string share_for_later() {
    return api_test::sample_with("vote-share.json", "submit_at", 4'102'444'000);
}

TEST_CASE("shares come and are scheduled at debug, and their time is not told") {
    Harness harness;
    CHECK(harness.post(share_path, share_for_later()).status == 200);
    const auto received = line_of(harness, "share_received");
    CHECK(received.level == LogLevel::debug);
    CHECK(holds(received.text, round_field + " share_index=5 proposal_id=3 tree_position=4211"));
    const auto scheduled = line_of(harness, "share_scheduled");
    CHECK(scheduled.level == LogLevel::debug);
    CHECK(holds(scheduled.text, round_field + " share_index=5 proposal_id=3"));
    CHECK(harness.logger.count("submit_at") == 0);
    CHECK(harness.logger.count("4102444000") == 0);
}

TEST_CASE("where timing may be exposed both are told at info, with the time") {
    api::Options options;
    options.share_expose_timing = true;
    Harness harness(options);
    CHECK(harness.post(share_path, share_for_later()).status == 200);
    for (const char* event : {"share_received", "share_scheduled"}) {
        CAPTURE(event);
        const auto line = line_of(harness, event);
        CHECK(line.level == LogLevel::info);
        CHECK(holds(line.text, " submit_at=4102444000"));
    }
    // New rows only.
    CHECK(harness.post(share_path, share_for_later()).json["status"] == "duplicate");
    CHECK(harness.logger.count("share_scheduled") == 1);
    CHECK(harness.logger.count("share_received") == 2);
}

TEST_CASE("a share is noted after its commitment was found and before its round is asked for") {
    Harness harness({}, {}, with_check);
    CHECK(harness.post(share_path, share_for_later()).status == 400);
    CHECK(harness.logger.count("share_received") == 0);
    CHECK(harness.rounds.calls == 0);
    harness.trees.found = domain::Bytes32{7};
    harness.rounds.rounds.clear();
    CHECK(harness.post(share_path, share_for_later()).status == 400);
    CHECK(harness.logger.count("share_received") == 1);
    CHECK(harness.rounds.calls == 1);
}

TEST_CASE("what the ports of the cross-check can not do is refused and reported by stage") {
    Harness harness({}, {}, with_check);
    harness.commitments.commitment.reset();
    const Answer bad_hash = harness.post(share_path, share_for_later());
    CHECK(bad_hash.status == 400);
    CHECK(bad_hash.json["error"] == "invalid vote commitment");
    CHECK(harness.trees.leaves_asked.empty());
    harness.commitments.commitment = domain::Bytes32{7};
    harness.trees.found = engine::Unreachable{"get https://user:pw@chain.example/leaf"};
    const Answer bad_leaf = harness.post(share_path, share_for_later());
    CHECK(bad_leaf.status == 400);
    CHECK(bad_leaf.json["error"] == "invalid vote commitment: tree read error");
    const std::string fields = round_field + " proposal_id=3 tree_position=4211";
    for (const char* start :
         {"vote_commitment_failed stage=vc_hash call=", "leaf_read_failed stage=leaf_read call="}) {
        CAPTURE(start);
        const std::string text = start;
        const auto line = line_of(harness, text.substr(0, text.find(' ')));
        CHECK(line.level == LogLevel::error);
        CHECK(line.text.starts_with(text));
        CHECK(holds(line.text, fields));
    }
    CHECK(harness.logger.count("chain.example") == 0);
}

TEST_CASE("a round that can not be asked for is reported as enqueue, with its round") {
    Harness harness;
    harness.rounds.forced = engine::Unreachable{"connect https://chain.example/key"};
    CHECK(harness.post(share_path, share_for_later()).status == 500);
    const auto line = line_of(harness, "round_lookup_failed");
    CHECK(line.level == LogLevel::error);
    CHECK(line.text.starts_with("round_lookup_failed stage=enqueue call="));
    CHECK(holds(line.text, round_field));
    CHECK(harness.logger.count("chain.example") == 0);
}

TEST_CASE("no line holds the witness data of a share or a token, whatever happens to it") {
    api::Options options;
    options.share_expose_timing = true;
    options.access.share_api_token = "token-of-the-wallets";
    Harness harness(options, {}, with_check);
    const Json share = Json::parse(share_for_later());
    const auto post = [&](const std::string& token) {
        return harness.send({"POST", share_path, share.dump(), {{"X-Helper-Token", token}}}).status;
    };
    CHECK(post("token-of-a-stranger") == 401);
    CHECK(post("token-of-the-wallets") == 400);
    harness.trees.found = engine::Unreachable{"reset"};
    CHECK(post("token-of-the-wallets") == 400);
    harness.trees.found = domain::Bytes32{7};
    CHECK(post("token-of-the-wallets") == 200);
    harness.submitter.forced = engine::Conflict{};
    CHECK(post("token-of-the-wallets") == 409);
    harness.submitter.forced = engine::Unavailable{"full", 1};
    CHECK(post("token-of-the-wallets") == 503);
    harness.submitter.defect = "out of luck";
    CHECK(post("token-of-the-wallets") == 500);
    CHECK(harness.logger.lines().size() >= 8);

    std::vector<std::string> secrets{"token-of", share["primary_blind"], share["enc_share"]["c1"],
                                     share["enc_share"]["c2"]};
    for (const Json& commitment : share["share_comms"]) secrets.push_back(commitment);
    for (const std::string& secret : secrets) {
        CAPTURE(secret);
        CHECK(harness.logger.count(secret.substr(0, 8)) == 0);
    }
    CHECK(harness.logger.count("7301c869") == 0);       // c1 in hexadecimal
    CHECK(harness.logger.count("5554b6cd3e332") == 0);  // primary_blind
}

}  // namespace
