#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "chains/evm/key_poller_world.hpp"

namespace {

using namespace key_poller_world;
using namespace std::chrono_literals;
using chains::jsonrpc::NodeError;
using chains::jsonrpc::TransportError;

struct PollFault {
    std::string label;
    std::string where;  // selector or `eth_getLogs`
    Answer answer;
    std::string problem;
};

Json with(Json log, const std::string& name, Json value) {
    log[name] = std::move(value);
    return Json::array({std::move(log)});
}

std::vector<PollFault> faults() {
    Contracts odd;
    odd.url = "https://kms.example.org/\nx";
    Contracts no_url;
    no_url.url = "";
    Contracts odd_prefix;
    odd_prefix.prefix = "P\xff";
    const Json log = Contracts{}.log();
    const NodeError revert{3, "execution reverted", {}};
    const std::string malformed = "malformed answer";
    return {
        {"key id: error", "d52f10eb", NodeError{-32000, "header not found", {}},
         "getActiveKeyId: header not found"},
        {"key id: silence", "d52f10eb",
         TransportError{TransportError::Kind::unsent, "connection refused", {}},
         "getActiveKeyId: connection refused"},
        {"key id: short", "d52f10eb", replies::hex(Bytes(31, 0)), "getActiveKeyId: " + malformed},
        {"key id: no string", "d52f10eb", 7, "getActiveKeyId: " + malformed},
        {"crs id: null", "baff211e", nullptr, "getActiveCrsId: " + malformed},
        {"context: one word", "65b394af", replies::hex(word(5)),
         "getCurrentKmsContextAndEpoch: " + malformed},
        {"key materials: aborted", "936608ae", revert, "getKeyMaterials: "},
        {"key materials: no such shape", "936608ae", replies::hex(Bytes(64, 0xff)),
         "getKeyMaterials: " + malformed},
        {"crs materials: aborted", "c55b8724", revert, "getCrsMaterials: "},
        {"crs materials: cut off", "c55b8724", replies::hex(word(64)),
         "getCrsMaterials: " + malformed},
        {"anchor: revert", "c999a8b4", revert, "getKmsContextAnchor: "},
        {"anchor: not known", "c999a8b4", replies::hex(Bytes(64, 0)),
         "getKmsContextAnchor: the block that announced the context is not known"},
        {"anchor: beyond 64 bits", "c999a8b4", replies::hex(Bytes(64, 0xff)),
         "getKmsContextAnchor: " + malformed},
        {"logs: error", "eth_getLogs", NodeError{-32602, "block out of range", {}},
         "eth_getLogs: block out of range"},
        {"logs: silence", "eth_getLogs",
         TransportError{TransportError::Kind::timed_out, "no answer in time", {}},
         "eth_getLogs: no answer in time"},
        {"logs: none", "eth_getLogs", Json::array(), "eth_getLogs: no NewKmsContext event"},
        {"logs: no list", "eth_getLogs", Json::object(), "eth_getLogs: " + malformed},
        {"logs: no logs", "eth_getLogs", Json::array({7}), "eth_getLogs: malformed log"},
        {"logs: of another contract", "eth_getLogs", with(log, "address", generation),
         "eth_getLogs: no NewKmsContext event"},
        {"logs: of another event", "eth_getLogs",
         with(log, "topics", {replies::hex(Bytes(32, 1)), replies::hex(word(5))}),
         "eth_getLogs: no NewKmsContext event"},
        {"logs: of another context", "eth_getLogs",
         with(log, "topics", {new_kms_context, replies::hex(word(77)), replies::hex(word(1))}),
         "eth_getLogs: no NewKmsContext event"},
        {"logs: removed", "eth_getLogs", with(log, "removed", true),
         "eth_getLogs: no NewKmsContext event"},
        {"logs: cut off", "eth_getLogs", with(log, "data", replies::hex(word(224))),
         "eth_getLogs: malformed NewKmsContext event"},
        {"storage: no URL", "eth_getLogs", Json::array({no_url.log()}),
         "eth_getLogs: the storage of the first KMS node is no URL"},
        {"storage: control characters", "eth_getLogs", Json::array({odd.log()}),
         "eth_getLogs: the storage of the first KMS node is no URL"},
        {"storage: no text", "eth_getLogs", Json::array({odd_prefix.log()}), "eth_getLogs: "},
    };
}

TEST_CASE("what fails is tried three times, 200 ms apart, and again with the next round") {
    for (const PollFault& fault : faults()) {
        CAPTURE(fault.label);
        PollerHarness world;
        world.say.emplace(fault.where, fault.answer);
        const chains::evm::KeyPoller& poller = world.start();
        world.executor.run_due();
        const std::size_t first = world.exchanges();
        CHECK(!poller.problem());
        world.executor.run_for(199ms);
        CHECK(world.exchanges() == 0);
        world.executor.run_for(1ms);
        CHECK(world.exchanges() == 1);
        CHECK(!poller.problem());
        world.executor.run_for(200ms);
        CHECK(world.exchanges() == 1);
        REQUIRE(poller.problem());
        CHECK(poller.problem()->starts_with(fault.problem));
        CHECK(poller.problem()->size() > std::string("eth_getLogs: ").size());
        CHECK(!poller.current());
        world.executor.run_for(11'599ms);
        CHECK(world.exchanges() == 0);
        world.executor.run_for(1ms);
        CHECK(world.exchanges() == first);
    }
}

TEST_CASE("a round that a stop cut off is no trouble, and the last one") {
    const chains::jsonrpc::TransportError stopped{
        chains::jsonrpc::TransportError::Kind::stopped, "stopped", {}};
    for (const std::string where :
         {"d52f10eb", "baff211e", "65b394af", "936608ae", "c55b8724", "c999a8b4", "eth_getLogs"}) {
        CAPTURE(where);
        PollerHarness world;
        const chains::evm::KeyPoller& poller = world.start();
        world.executor.run_due();
        world.contracts.key = 13;
        world.say.emplace(where, stopped);
        world.executor.run_for(12s);
        const std::size_t asked = world.node.batches.size();
        world.executor.run_for(5min);
        CHECK(world.node.batches.size() == asked);
        CHECK(!poller.problem());
        CHECK(world.logger.count("key_urls_failed") == 0);
    }
}

TEST_CASE("the last value stays while rounds fail, and ids that led nowhere are not kept") {
    for (const PollFault& fault : faults()) {
        CAPTURE(fault.label);
        PollerHarness world;
        const chains::evm::KeyPoller& poller = world.start();
        world.executor.run_due();
        const engine::KeyMaterial before = *poller.current();
        world.contracts.key = 13;
        world.say.emplace(fault.where, fault.answer);
        world.executor.run_for(5 * 12s + 1s);
        CHECK(*poller.current() == before);
        CHECK(poller.problem());
        CHECK(world.logger.count("key_urls_failed") == 1);

        world.say.clear();
        world.executor.run_for(12s);
        CHECK(*poller.current() == world.contracts.material());
        CHECK(!poller.problem());
        CHECK(world.logger.count("key_urls_recovered") == 1);
    }
}

}  // namespace
