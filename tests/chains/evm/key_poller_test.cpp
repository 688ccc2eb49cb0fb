#include "chains/evm/key_poller.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "chains/evm/key_poller_world.hpp"

namespace {

using namespace key_poller_world;
using namespace std::chrono_literals;
using chains::jsonrpc::NodeError;
using chains::jsonrpc::TransportError;

TEST_CASE("the first round tells the key material") {
    PollerHarness world;
    const chains::evm::KeyPoller& poller = world.start();
    CHECK(!poller.current());
    CHECK(!poller.problem());
    CHECK(world.node.calls.empty());
    world.executor.run_due();

    REQUIRE(poller.current());
    CHECK(*poller.current() == world.contracts.material());
    CHECK(poller.current()->key_urls ==
          std::vector<std::string>{"https://kms.example.org/store/PUB/PublicKey/" +
                                   domain::to_hex(word32(3))});
    CHECK(poller.current()->crs_urls ==
          std::vector<std::string>{"https://kms.example.org/store/PUB/CRS/" +
                                   domain::to_hex(word32(4))});
    CHECK(!poller.problem());
    CHECK(world.node.batches == std::vector<std::size_t>{3, 3, 1});
    CHECK(world.logger.count("key_urls_changed key=0x") == 1);
    CHECK(world.logger.lines().size() == 1);
}

TEST_CASE("the announcement is looked for in its block, by contract and context") {
    PollerHarness world;
    world.start();
    world.executor.run_due();
    REQUIRE(world.node.count("eth_getLogs") == 1);
    CHECK(world.node.calls.back().params ==
          Json::array({{{"fromBlock", "0x384"},
                        {"toBlock", "0x384"},
                        {"address", protocol},
                        {"topics", {new_kms_context, replies::hex(word(5))}}}}));
}

TEST_CASE("slashes at the end of the storage do not double") {
    for (const char* url : {"https://kms.example.org/store", "https://kms.example.org/store/",
                            "https://kms.example.org/store///"}) {
        CAPTURE(url);
        PollerHarness world;
        world.contracts.url = url;
        const chains::evm::KeyPoller& poller = world.start();
        world.executor.run_due();
        REQUIRE(poller.current());
        CHECK(poller.current()->key_urls[0] ==
              "https://kms.example.org/store/PUB/PublicKey/" + domain::to_hex(word32(3)));
    }
}

TEST_CASE("a round every 12 s costs one exchange while no id changes") {
    PollerHarness world;
    world.start();
    world.executor.run_due();
    CHECK(world.exchanges() == 3);
    world.executor.run_for(11'999ms);
    CHECK(world.exchanges() == 0);
    world.executor.run_for(1ms);
    CHECK(world.exchanges() == 1);
    world.contracts.url = "https://elsewhere.example";  // no id changed: nobody looks
    world.executor.run_for(10 * 12s);
    CHECK(world.exchanges() == 10);
    CHECK(world.node.count("eth_getLogs") == 1);
    CHECK(world.poller->current()->key_urls[0].starts_with("https://kms.example.org/"));
}

TEST_CASE("each of the four ids makes it look again") {
    const std::vector<std::pair<std::string, std::function<void(Contracts&)>>> rows{
        {"key", [](Contracts& of) { of.key = 13; }},
        {"crs", [](Contracts& of) { of.crs = 14; }},
        {"context", [](Contracts& of) { of.context = 15; }},
        {"epoch", [](Contracts& of) { of.epoch = 16; }},
    };
    for (const auto& [label, change] : rows) {
        CAPTURE(label);
        PollerHarness world;
        world.start();
        world.executor.run_due();
        change(world.contracts);
        world.contracts.url = "https://elsewhere.example";
        world.executor.run_for(12s);
        CHECK(*world.poller->current() == world.contracts.material());
        CHECK(world.node.count("eth_getLogs") == 2);
        CHECK(world.logger.count("key_urls_changed") == 2);
        world.executor.run_for(12s);
        CHECK(world.node.count("eth_getLogs") == 2);
    }
}

TEST_CASE("one failure on the way is no trouble") {
    for (const char* where : {"d52f10eb", "936608ae", "eth_getLogs"}) {
        CAPTURE(where);
        PollerHarness world;
        world.say.emplace(where, NodeError{-32000, "header not found", {}});
        const chains::evm::KeyPoller& poller = world.start();
        world.executor.run_due();
        world.executor.run_for(200ms);
        world.say.clear();
        world.executor.run_for(200ms);
        CHECK(poller.current());
        CHECK(!poller.problem());
        CHECK(world.logger.count("failed") == 0);
    }
}

TEST_CASE("every step has tries of its own") {
    PollerHarness world;
    const chains::evm::KeyPoller& poller = world.start();
    std::string failing = "d52f10eb";
    for (const char* next : {"936608ae", "eth_getLogs", ""}) {
        world.say.emplace(failing, NodeError{-32000, "header not found", {}});
        if (failing == "d52f10eb") world.executor.run_due();
        world.executor.run_for(200ms);
        world.say.clear();
        failing = next;
        if (!failing.empty()) world.say.emplace(failing, NodeError{-32000, "not found", {}});
        world.executor.run_for(200ms);
    }
    CHECK(poller.current());
    CHECK(!poller.problem());
    CHECK(world.logger.count("failed") == 0);
}

TEST_CASE("of several announcements the last one counts") {
    PollerHarness world;
    Contracts earlier;
    earlier.url = "https://earlier.example";
    Json foreign = earlier.log();
    foreign["address"] = generation;
    world.say.emplace("eth_getLogs",
                      Json::array({earlier.log(), world.contracts.log(), std::move(foreign)}));
    world.start();
    world.executor.run_due();
    CHECK(*world.poller->current() == world.contracts.material());
}

TEST_CASE("a chain without the contracts in its finalized block gets a hint") {
    for (const char* selector : {"d52f10eb", "baff211e", "65b394af"}) {
        PollerHarness world;
        world.say.emplace(selector, "0x");
        world.start();
        world.executor.run_for(1s);
        REQUIRE(world.poller->problem());
        CHECK(world.poller->problem()->find("no contract has this address in the finalized") !=
              std::string::npos);
        CHECK(world.logger.count("--slots-in-an-epoch 1") == 1);
    }
}

TEST_CASE("trouble is told when it changes") {
    PollerHarness world;
    world.say.emplace("d52f10eb", NodeError{-32000, "header \"x\" alert=true", {}});
    world.start();
    world.executor.run_for(10 * 12s);
    REQUIRE(world.logger.lines().size() == 1);
    CHECK(world.logger.lines()[0].level == ports::LogLevel::error);
    CHECK(world.logger.lines()[0].text ==
          R"(key_urls_failed error="getActiveKeyId: header \"x\" alert=true")");
    world.say.at("d52f10eb") =
        TransportError{TransportError::Kind::unsent, "connection refused", {}};
    world.executor.run_for(10 * 12s);
    CHECK(world.logger.lines().size() == 2);
}

TEST_CASE("no secret of a node's URL gets out") {
    const std::string leak = "cannot reach https://node.example/v3/hunter2";
    for (const char* where : {"d52f10eb", "936608ae", "eth_getLogs"}) {
        for (const Answer& answer :
             std::vector<Answer>{NodeError{-32000, leak, {}},
                                 TransportError{TransportError::Kind::unsent, leak, {}}}) {
            PollerHarness world;
            world.say.emplace(where, answer);
            world.start();
            world.executor.run_for(1s);
            REQUIRE(world.poller->problem());
            CHECK(world.poller->problem()->find("cannot reach") != std::string::npos);
            CHECK(world.poller->problem()->find("hunter2") == std::string::npos);
            CHECK(world.logger.count("hunter2") == 0);
        }
    }
}

TEST_CASE("a node that asks for time gets it, and rounds that are due meanwhile are left out") {
    PollerHarness world;
    world.say.emplace("d52f10eb", TransportError{TransportError::Kind::throttled, "429", 30s});
    world.start();
    world.executor.run_due();
    world.say.clear();
    world.executor.run_for(29'999ms);
    CHECK(world.exchanges() == 1);
    world.executor.run_for(1ms);
    CHECK(world.exchanges() == 3);
    CHECK(world.poller->current());
    world.executor.run_for(6s);
    CHECK(world.exchanges() == 1);
}

TEST_CASE("nothing is asked once stopped, what is known stays") {
    PollerHarness world;
    world.start();
    world.executor.run_due();
    world.say.emplace("d52f10eb", NodeError{-32000, "header not found", {}});
    world.executor.run_for(12s);
    CHECK(world.exchanges() == 4);
    world.poller->stop();
    world.executor.run_for(60s);
    CHECK(world.exchanges() == 0);
    CHECK(world.poller->current());
    CHECK(world.executor.pending() == 0);
    world.poller.reset();
}

TEST_CASE("a poller that goes before its errands is harmless") {
    PollerHarness world;
    world.start();
    world.poller.reset();
    world.executor.run_for(60s);
    CHECK(world.node.calls.empty());
}

}  // namespace
