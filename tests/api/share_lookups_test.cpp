// What blocks is done elsewhere: a slow vote chain holds nobody up who does not need it.

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "api/harness.hpp"
#include "api/lookups.hpp"
#include "api/samples.hpp"

namespace {

using api_test::Answer;
using api_test::Call;
using api_test::Client;
using api_test::Harness;
using api_test::Json;
using api_test::VotePorts;
using namespace std::chrono_literals;

const std::string base = "/shielded-vote/v1/";
const std::string share_path = base + "shares";
const std::string status_path = base + "status";
const std::string nullifier_path =
    base + "share-status/" + std::string(64, 'a') + "/" + std::string(64, 'b');

const Json queued{{"status", "queued"}};
const Json unavailable{{"status", "error"}, {"error", "helper unavailable"}};

std::string sample() {
    return api_test::sample("vote-share.json");
}

std::string share_at(int position) {
    return api_test::sample_with("vote-share.json", "tree_position", position);
}

Call post(const std::string& body) {
    return {"POST", share_path, body};
}
Call get(const std::string& path) {
    return {"GET", path, {}, {}};
}

// Until the one worker of the harness has handed over what was sent.
void wait_for_pending(const Harness& harness, std::size_t count) {
    while (harness.executor.pending() < count) std::this_thread::yield();
}

TEST_CASE("a slow chain stops neither other routes nor shares of known rounds") {
    Harness harness({}, {}, {.nullifiers = true});
    CHECK(harness.post(share_path, sample()).json == queued);
    harness.executor.hold();
    Client stranger(harness.server.port());
    stranger.send(
        post(api_test::sample_with("vote-share.json", "vote_round_id", std::string(64, 'c'))));
    Client asker(harness.server.port());
    asker.send(get(nullifier_path));
    wait_for_pending(harness, 2);

    CHECK(harness.get("/liveness").status == 200);
    CHECK(harness.get(status_path).status == 200);
    CHECK(harness.post(share_path, share_at(1)).json == queued);
    CHECK_FALSE(stranger.is_answered(0));
    CHECK_FALSE(asker.is_answered(0));

    harness.executor.release();
    CHECK(stranger.take().status == 400);
    CHECK(asker.take().json == Json{{"status", "pending"}});
}

TEST_CASE("with the cross-check every share asks the chain, and none holds a worker") {
    Harness harness({}, {}, {.trees = true, .commitments = true});
    harness.trees.found = domain::Bytes32{7};
    CHECK(harness.post(share_path, sample()).json == queued);
    harness.executor.hold();
    Client wallet(harness.server.port());
    wallet.send(post(share_at(1)));
    wait_for_pending(harness, 1);
    CHECK(harness.get("/liveness").status == 200);
    harness.executor.release();
    CHECK(wallet.take().json == queued);
    CHECK(harness.rounds.calls == 1);
}

TEST_CASE("first shares of one round may both ask, and both are taken") {
    Harness harness;
    harness.executor.hold();
    Client first(harness.server.port());
    Client second(harness.server.port());
    first.send(post(share_at(1)));
    second.send(post(share_at(2)));
    wait_for_pending(harness, 2);
    harness.executor.release();
    CHECK(first.take().json == queued);
    CHECK(second.take().json == queued);
    CHECK(harness.intake.stored() == 2);
}

TEST_CASE("more look-ups than there is room for are 503 with a time to wait") {
    Harness harness({}, {}, {.nullifiers = true});
    harness.executor.hold();
    std::vector<std::unique_ptr<Client>> clients;
    constexpr std::size_t room = 256;
    for (std::size_t i = 0; i < room; ++i) {
        clients.push_back(std::make_unique<Client>(harness.server.port()));
        clients.back()->send(get(nullifier_path));
    }
    wait_for_pending(harness, room);
    const Answer refused = harness.get(nullifier_path);
    CHECK(refused.status == 503);
    CHECK(refused.json == unavailable);
    CHECK(refused.header("Retry-After") == "4");

    // Who asks often does not keep shares out; those have their own room.
    for (std::size_t i = 0; i < room; ++i) {
        clients.push_back(std::make_unique<Client>(harness.server.port()));
        clients.back()->send(post(share_at(static_cast<int>(i))));
    }
    wait_for_pending(harness, 2 * room);
    const Answer full = harness.post(share_path, sample());
    CHECK(full.status == 503);
    CHECK(full.json == unavailable);
    CHECK(full.header("Retry-After") == "4");
    CHECK(harness.journal.count("share_lookups_full stage=nullifier_check call=") == 1);

    harness.executor.release();
    for (const auto& client : clients) CHECK(client->take().status == 200);
    CHECK(harness.get(nullifier_path).status == 200);
    CHECK(harness.intake.stored() == room);
}

TEST_CASE("who asks for the status shares one read, and waits no longer than a second for it") {
    Harness harness({}, {}, {.trees = true});
    harness.executor.hold();
    Client first(harness.server.port());
    Client second(harness.server.port());
    first.send(get(status_path));
    wait_for_pending(harness, 1);
    second.send(get(status_path));
    while (harness.server.counts().requests_read < 2) std::this_thread::yield();
    CHECK(harness.get("/liveness").status == 200);  // the one worker comes to it afterwards
    CHECK_FALSE(second.is_answered(0));

    harness.clock.advance(1s);
    CHECK(harness.get(status_path).json == Json{{"status", "ok"}});
    CHECK(harness.executor.pending() == 1);

    harness.executor.release();
    CHECK(first.take().json.contains("tree"));
    CHECK(second.take().json.contains("tree"));
    CHECK(harness.get(status_path).json.contains("tree"));
    CHECK(harness.trees.reads == 1);
}

TEST_CASE("an exception in a look-up is a 500 with a report, and the room is free again") {
    Harness harness;
    harness.intake.defect = "sqlite: out of luck";
    for (int i = 0; i < 300; ++i) {
        const Answer answer = harness.post(
            share_path,
            api_test::sample_with("vote-share.json", "vote_round_id",
                                  i == 0 ? Json::parse(sample())["vote_round_id"].get<std::string>()
                                         : std::string(64, 'd')));
        CHECK(answer.status == (i == 0 ? 500 : 400));
    }
    CHECK(harness.journal.count("share_call_failed stage=enqueue call=") == 1);
    harness.intake.defect.reset();
    CHECK(harness.post(share_path, sample()).json == queued);
}

TEST_CASE("look-ups that come when the application is gone do nothing") {
    api_test::ScriptedExecutor executor;
    executor.hold();
    bool ran = false;
    {
        api::Lookups lookups(executor, 2);
        CHECK(lookups.start([&] { ran = true; }));
        CHECK(lookups.start([&] { ran = true; }));
        CHECK_FALSE(lookups.start([&] { ran = true; }));
    }
    executor.release();
    CHECK_FALSE(ran);
}

TEST_CASE("an application that goes waits for the look-ups that run") {
    api_test::ScriptedExecutor executor;
    std::promise<void> begun;
    std::promise<void> may_end;
    std::atomic<bool> ended = false;
    auto lookups = std::make_unique<api::Lookups>(executor, 1);
    std::jthread worker([&] {
        CHECK(lookups->start([&] {
            begun.set_value();
            may_end.get_future().wait();
            ended = true;
        }));
    });
    begun.get_future().wait();
    std::jthread helper([&] { may_end.set_value(); });
    lookups.reset();
    CHECK(ended);
}

TEST_CASE("a server that stops while shares wait for the chain drops them unharmed") {
    auto harness = std::make_unique<Harness>();
    harness->executor.hold();
    Client wallet(harness->server.port());
    wallet.send(post(sample()));
    wait_for_pending(*harness, 1);
    CHECK_FALSE(harness->server.drain(0ms));
    harness.reset();
    CHECK_THROWS(static_cast<void>(wallet.take()));
}

}  // namespace
