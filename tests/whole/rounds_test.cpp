// The end of a vote round, from memory, store and chain (share-helper 1.2, 1.3).

#include <chrono>
#include <string>

#include "api/samples.hpp"
#include "box.hpp"
#include "shares.hpp"

namespace {

using namespace std::chrono_literals;
using api_test::Answer;
using api_test::Json;
using whole::Box;
using namespace whole::shares;

const Json queued{{"status", "queued"}};
const Json duplicate{{"status", "duplicate"}};
const Json internal_error{{"status", "error"}, {"error", "internal error"}};

std::string share_of_another_round() {
    return api_test::sample_with(file, "vote_round_id", std::string(64, 'b'));
}

void check(const Answer& answer, int status, const Json& json) {
    CAPTURE(answer.body);
    CHECK(answer.status == status);
    CHECK(answer.json == json);
}

TEST_CASE("a restart while the chain is away: shares of a known round are taken") {
    Box box;
    check(box.post(path, share(1)), 200, queued);
    CHECK(box.rounds.calls == 1);
    box.restart();
    box.rounds.forced = engine::Unreachable{"the chain is away"};
    check(box.post(path, share(2)), 200, queued);
    check(box.post(path, share(1)), 200, duplicate);
    CHECK(box.rounds.calls == 1);
    CHECK(box.world.engine.logger.count("round_lookup_failed") == 0);
    CHECK(box.world.number("select total from round") == 2);
}

TEST_CASE("a restart while the chain is away: another round is not known until the chain is back") {
    Box box;
    box.rounds.rounds[std::string(64, 'b')] = 4'102'444'800;
    check(box.post(path, share(1)), 200, queued);
    box.restart();
    box.rounds.forced = engine::Unreachable{"the chain is away"};
    check(box.post(path, share_of_another_round()), 500, internal_error);
    CHECK(box.world.engine.logger.count("round_lookup_failed") == 1);
    CHECK(box.rows() == 1);
    box.rounds.forced.reset();
    check(box.post(path, share_of_another_round()), 200, queued);
}

TEST_CASE("a share that was refused leaves no round behind") {
    Box box;
    const std::uint64_t end = box.world.in_seconds(60);
    box.rounds.rounds[round_id()] = static_cast<std::int64_t>(end);
    CHECK(box.post(path, share(1, end + 1)).status == 400);
    box.restart();
    box.rounds.forced = engine::Unreachable{"the chain is away"};
    check(box.post(path, share(1)), 500, internal_error);
}

TEST_CASE("the first end of a round outlives a restart and a chain that changed its mind") {
    Box box;
    const std::uint64_t end = box.world.in_seconds(60);
    box.rounds.rounds[round_id()] = static_cast<std::int64_t>(end);
    check(box.post(path, share(1)), 200, queued);
    box.rounds.rounds[round_id()] = static_cast<std::int64_t>(end + 3'600);
    box.restart();
    const Answer late = box.post(path, share(2, end + 1));
    CHECK(late.status == 400);
    CHECK(late.json["error"] == "invalid submit_at: submit_at (" + std::to_string(end + 1) +
                                    ") > vote_end_time (" + std::to_string(end) + ")");
    check(box.post(path, share(2, end)), 200, queued);
    CHECK(box.world.number("select count(distinct deadline_ms) from request") == 1);
    CHECK(box.rounds.calls == 1);
}

// 1.2: only existence is checked, so a share without a time enters and goes with the round.
TEST_CASE("a round that was over before the restart takes no share for later") {
    Box box;
    const std::uint64_t end = box.world.in_seconds(10);
    box.rounds.rounds[round_id()] = static_cast<std::int64_t>(end);
    check(box.post(path, share(1)), 200, queued);
    box.run_for(30s);
    box.restart();
    box.rounds.forced = engine::Unreachable{"the chain is away"};
    const Answer late = box.post(path, share(2, box.world.in_seconds(0)));
    CHECK(late.status == 400);
    CHECK(late.json["error"].get<std::string>().starts_with("invalid submit_at: "));

    const std::size_t proofs = box.world.gateway.prepares.size();
    check(box.post(path, share(3)), 200, queued);
    box.run_for(1s);
    CHECK(box.world.gateway.prepares.size() == proofs);
    CHECK(box.world.number("select timed_out from round") == 1);
}

}  // namespace
