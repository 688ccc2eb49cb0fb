// What blocks is done elsewhere: a slow vote chain holds nobody up who does not need it.

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "api/active_tree.hpp"
#include "api/lookups.hpp"
#include "api/share_calls.hpp"

namespace {

using api_test::Answer;
using api_test::Call;
using api_test::Client;
using api_test::Harness;
using api_test::Json;
using api_test::queued;
using api_test::sample_share;
using api_test::ScriptedExecutor;
using api_test::share_base;
using api_test::share_path;
using api_test::VotePorts;
using namespace std::chrono_literals;

const std::string status_path = share_base + "status";
const std::string nullifier_path =
    share_base + "share-status/" + std::string(64, 'a') + "/" + std::string(64, 'b');

const Json unavailable{{"status", "error"}, {"error", "helper unavailable"}};

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
void wait_for_pending(const ScriptedExecutor& executor, std::size_t count) {
    while (executor.pending() < count) std::this_thread::yield();
}

void check_unavailable(const Answer& answer) {
    CAPTURE(answer.body);
    CHECK(answer.status == 503);
    CHECK(answer.json == unavailable);
    CHECK(answer.header("Retry-After") == "4");
}

TEST_CASE("a slow chain stops neither other routes nor shares of known rounds") {
    Harness harness({}, {}, {.nullifiers = true});
    CHECK(harness.post(share_path, sample_share()).json == queued);
    harness.executor.hold();
    harness.queries.hold();
    Client stranger(harness.server.port());
    stranger.send(
        post(api_test::sample_with("vote-share.json", "vote_round_id", std::string(64, 'c'))));
    Client asker(harness.server.port());
    asker.send(get(nullifier_path));
    wait_for_pending(harness.executor, 1);
    wait_for_pending(harness.queries, 1);

    CHECK(harness.get("/liveness").status == 200);
    CHECK(harness.get(status_path).status == 200);
    CHECK(harness.post(share_path, share_at(1)).json == queued);
    CHECK_FALSE(stranger.is_answered(0));
    CHECK_FALSE(asker.is_answered(0));

    harness.executor.release();
    harness.queries.release();
    CHECK(stranger.take().status == 400);
    CHECK(asker.take().json == Json{{"status", "pending"}});
}

TEST_CASE("with the cross-check every share asks the chain, and none holds a worker") {
    Harness harness({}, {}, {.trees = true, .commitments = true});
    harness.trees.found = domain::Bytes32{7};
    CHECK(harness.post(share_path, sample_share()).json == queued);
    harness.executor.hold();
    Client wallet(harness.server.port());
    wallet.send(post(share_at(1)));
    wait_for_pending(harness.executor, 1);
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
    wait_for_pending(harness.executor, 2);
    harness.executor.release();
    CHECK(first.take().json == queued);
    CHECK(second.take().json == queued);
    CHECK(harness.submitter.stored() == 2);
}

TEST_CASE("more look-ups than there is room for are 503 with a time to wait") {
    Harness harness({}, {}, {.nullifiers = true});
    harness.executor.hold();
    harness.queries.hold();
    std::vector<std::unique_ptr<Client>> clients;
    constexpr std::size_t room = 256;
    for (std::size_t i = 0; i < room; ++i) {
        clients.push_back(std::make_unique<Client>(harness.server.port()));
        clients.back()->send(get(nullifier_path));
    }
    wait_for_pending(harness.queries, room);
    check_unavailable(harness.get(nullifier_path));

    // Who asks often does not keep shares out; those have their own room.
    for (std::size_t i = 0; i < room; ++i) {
        clients.push_back(std::make_unique<Client>(harness.server.port()));
        clients.back()->send(post(share_at(static_cast<int>(i))));
    }
    wait_for_pending(harness.executor, room);
    check_unavailable(harness.post(share_path, sample_share()));
    CHECK(harness.logger.count("share_lookups_full stage=nullifier_check call=") == 1);

    harness.executor.release();
    harness.queries.release();
    for (const auto& client : clients) CHECK(client->take().status == 200);
    CHECK(harness.get(nullifier_path).status == 200);
    CHECK(harness.submitter.stored() == room);
}

TEST_CASE("shares that wait for the chain do not keep who asks about shares waiting") {
    Harness harness({}, {}, {.trees = true, .nullifiers = true});
    harness.executor.hold();
    Client wallet(harness.server.port());
    wallet.send(post(sample_share()));
    wait_for_pending(harness.executor, 1);
    CHECK(harness.get(nullifier_path).json == Json{{"status", "pending"}});
    CHECK(harness.get(status_path).json.contains("tree"));
    CHECK_FALSE(wallet.is_answered(0));
    harness.executor.release();
    CHECK(wallet.take().json == queued);
}

TEST_CASE("a look-up whose turn comes after ten seconds is 503, and the chain is not asked") {
    Harness harness({}, {}, {.nullifiers = true});
    for (const bool late : {false, true}) {
        CAPTURE(late);
        harness.executor.hold();
        harness.queries.hold();
        Client wallet(harness.server.port());
        Client asker(harness.server.port());
        wallet.send(
            post(api_test::sample_with("vote-share.json", "vote_round_id", std::string(64, 'c'))));
        asker.send(get(nullifier_path));
        wait_for_pending(harness.executor, 1);
        wait_for_pending(harness.queries, 1);
        harness.clock.advance(late ? 10s + 1ms : 10s);
        harness.executor.release();
        harness.queries.release();
        if (late) {
            check_unavailable(wallet.take());
            check_unavailable(asker.take());
        } else {
            CHECK(wallet.take().status == 400);
            CHECK(asker.take().status == 200);
        }
        CHECK(harness.rounds.calls == 1);
        CHECK(harness.nullifiers.asked.size() == 1);
    }
    CHECK(harness.logger.count("share_lookups_late stage=") == 1);
}

TEST_CASE("who asks for the status first waits for the look-up, a second and a half at most") {
    Harness harness({}, {}, {.trees = true});
    const Json bare{{"status", "ok"}};
    for (const bool is_answered : {true, false}) {
        CAPTURE(is_answered);
        harness.clock.advance(11s);
        harness.queries.hold();
        std::vector<std::unique_ptr<Client>> clients;
        for (int i = 0; i < 3; ++i) {
            clients.push_back(std::make_unique<Client>(harness.server.port()));
            clients.back()->send(get(status_path));
        }
        wait_for_pending(harness.queries, 1);
        CHECK(harness.get("/liveness").status == 200);  // whoever came before has been handed over
        CHECK_FALSE(clients.front()->is_answered(0));
        CHECK(harness.queries.pending() == 1);  // they share one read
        if (is_answered) harness.queries.release();
        for (const auto& client : clients) {
            while (!is_answered && !client->is_answered(0)) harness.queries.let_time_pass();
            const Json json = client->take().json;
            CHECK(json.contains("tree") == is_answered);
            if (!is_answered) CHECK(json == bare);
        }
        harness.queries.release();
    }
    CHECK(harness.trees.reads == 2);
}

TEST_CASE("the tree of the last ten seconds is told at once, while a look-up hangs too") {
    Harness harness({}, {}, {.trees = true});
    CHECK(harness.get(status_path).json["tree"]["leaf_count"] == 4'212);
    harness.queries.hold();
    harness.trees.active = engine::TreeStatus{5'000, 90'300};
    harness.clock.advance(10s);
    CHECK(harness.get(status_path).json["tree"]["leaf_count"] == 4'212);
    CHECK(harness.queries.pending() == 1);
    harness.queries.release();
    CHECK(harness.get(status_path).json["tree"]["leaf_count"] == 5'000);
    CHECK(harness.trees.reads == 2);
}

TEST_CASE("a read of the tree that came too late is begun anew by who asks next") {
    Harness harness({}, {}, {.trees = true});
    harness.queries.hold();
    Client first(harness.server.port());
    first.send(get(status_path));
    wait_for_pending(harness.queries, 1);
    harness.clock.advance(11s);
    harness.queries.release();
    CHECK_FALSE(first.take().json.contains("tree"));
    CHECK(harness.trees.reads == 0);
    CHECK(harness.get(status_path).json.contains("tree"));
    CHECK(harness.trees.reads == 1);
}

// The tree in virtual time; a look-up takes no time of its own.
struct TreeWorld {
    // What somebody who asks now is told.
    std::optional<api::ActiveTree::Reading> ask() {
        std::optional<api::ActiveTree::Reading> told;
        tree.latest([&](const api::ActiveTree::Reading& reading) { told = reading; });
        executor.run_due();
        return told;
    }

    support::VirtualClock clock;
    support::VirtualExecutor executor{clock};
    support::RecordingLogger logger;
    api_test::ScriptedTrees trees;
    api::Lookups lookups{executor, clock, 4};
    api::ActiveTree tree{&trees, lookups, logger, clock};
};

TEST_CASE("whoever asks sees the tree, however seldom") {
    for (const auto pause : {500ms, 9'000ms, 11'000ms, 59'000ms, 61'000ms, 600'000ms}) {
        CAPTURE(pause.count());
        TreeWorld world;
        for (std::uint64_t i = 1; i <= 20; ++i) {
            world.trees.active = engine::TreeStatus{i, i};
            const auto told = world.ask();
            REQUIRE(told);
            REQUIRE(*told);
            // Of a minute the background keeps it fresh; it is never ten seconds old.
            CHECK((*told)->leaf_count + static_cast<std::uint64_t>(10s / pause) + 1 >= i);
            world.executor.run_for(pause);
        }
    }
}

TEST_CASE("the tree is read every five seconds, and a minute after the last who asked no more") {
    TreeWorld world;
    CHECK(world.ask());
    world.executor.run_for(60s);
    CHECK(world.trees.reads == 13);
    world.executor.run_for(1h);
    CHECK(world.trees.reads == 13);
    CHECK(world.executor.pending() == 0);
    CHECK(world.ask());
    CHECK(world.trees.reads == 14);
}

TEST_CASE("a reading that fails leaves the one before for ten seconds, no round leaves none") {
    TreeWorld world;
    REQUIRE(*world.ask());
    world.trees.active = engine::Unreachable{"connection refused"};
    world.executor.run_for(10s);
    CHECK(*world.ask());
    world.executor.run_for(1s);
    const auto told = world.ask();
    REQUIRE(told);
    CHECK_FALSE(*told);
    CHECK(world.logger.count("tree_status_failed") >= 1);

    world.trees.active = engine::TreeStatus{1, 2};
    world.executor.run_for(5s);
    REQUIRE(*world.ask());
    world.trees.active = engine::UnknownRound{};
    world.executor.run_for(5s);
    CHECK_FALSE(*world.ask());
}

TEST_CASE("an exception in a look-up is a 500 with a report, and the room is free again") {
    Harness harness;
    harness.submitter.defect = "sqlite: out of luck";
    for (int i = 0; i < 300; ++i) {
        const Answer answer = harness.post(
            share_path, api_test::sample_with(
                            "vote-share.json", "vote_round_id",
                            i == 0 ? Json::parse(sample_share())["vote_round_id"].get<std::string>()
                                   : std::string(64, 'd')));
        CHECK(answer.status == (i == 0 ? 500 : 400));
    }
    CHECK(harness.logger.count("share_call_failed stage=enqueue call=") == 1);
    harness.submitter.defect.reset();
    CHECK(harness.post(share_path, sample_share()).json == queued);
}

TEST_CASE("look-ups that come when the application is gone do nothing") {
    ScriptedExecutor executor;
    support::VirtualClock clock;
    executor.hold();
    bool ran = false;
    {
        api::Lookups lookups(executor, clock, 2);
        CHECK(lookups.start([&] { ran = true; }, [&] { ran = true; }));
        CHECK(lookups.start([&] { ran = true; }, [&] { ran = true; }));
        CHECK_FALSE(lookups.start([&] { ran = true; }, [&] { ran = true; }));
    }
    executor.release();
    CHECK_FALSE(ran);
}

TEST_CASE("an application that goes waits for the look-ups that run") {
    ScriptedExecutor executor;
    support::VirtualClock clock;
    std::promise<void> begun;
    std::promise<void> may_end;
    std::atomic<bool> ended = false;
    auto lookups = std::make_unique<api::Lookups>(executor, clock, 1);
    std::jthread worker([&] {
        CHECK(lookups->start(
            [&] {
                begun.set_value();
                may_end.get_future().wait();
                ended = true;
            },
            [] {}));
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
    wallet.send(post(sample_share()));
    wait_for_pending(harness->executor, 1);
    CHECK_FALSE(harness->server.drain(0ms));
    harness.reset();
    CHECK_THROWS(static_cast<void>(wallet.take()));
}

}  // namespace
