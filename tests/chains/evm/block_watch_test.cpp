// What a node says of the blocks that are watched, and what is made of it (evm-gateway 8.9).

#include "chains/evm/block_watch.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "chains/evm/nonces.hpp"
#include "chains/evm/scripted_node.hpp"
#include "chains/jsonrpc/decode.hpp"
#include "support/recording_events.hpp"
#include "support/virtual_time.hpp"

using chains::evm::BlockWatch;
using chains::jsonrpc::Answer;
using chains::jsonrpc::Json;
using chains::jsonrpc::NodeError;
using chains::jsonrpc::TransportError;
using domain::Block;
using namespace std::chrono_literals;

namespace {

Block block_of(std::uint64_t number, std::uint8_t fork = 0) {
    Block made{number, {}};
    made.hash.fill(fork);
    made.hash[31] = static_cast<std::uint8_t>(number);
    return made;
}

Json reply_with(const Block& block) {
    return {{"number", chains::jsonrpc::hex_quantity(block.number)},
            {"hash", chains::jsonrpc::hex(block.hash)}};
}

struct WatchEvents : support::RecordingEvents {
    std::vector<engine::BlockNews> all;
    void block_news(engine::BlockNews news) override { all.push_back(std::move(news)); }
};

struct WatchHarness {
    WatchHarness() {
        options.listening.reorg_depth = 10;
        options.listening.poll_interval = 500ms;
        script(node);
        script(other);
    }

    void script(support::ScriptedNode& one) {
        one.on["eth_blockNumber"] = [this](const Json&) -> Answer {
            return Json(chains::jsonrpc::hex_quantity(head));
        };
        one.on["eth_getBlockByNumber"] = [this](const Json& params) -> Answer {
            const auto number = *chains::jsonrpc::quantity(params.at(0));
            if (number > head) return Json(nullptr);
            return reply_with(block_of(number, number >= fork_from ? 1 : 0));
        };
    }

    void watch(const std::vector<Block>& blocks) {
        if (!watching) {
            watching.emplace(
                options, std::vector<chains::jsonrpc::Node*>{&node, &other},
                [this](const Block& block) { nonces.bury(block); }, executor, clock,
                [this](std::uint64_t from) { read.push_back(from); });
            watching->start(events);
        }
        watching->watch(blocks);
        executor.run_due();
    }

    // Of everything that was said so far.
    [[nodiscard]] std::size_t count(std::vector<Block> engine::BlockNews::*which) const {
        std::size_t sum = 0;
        for (const engine::BlockNews& news : events.all) sum += (news.*which).size();
        return sum;
    }
    [[nodiscard]] std::size_t asked() const {
        return node.count("eth_getBlockByNumber") + other.count("eth_getBlockByNumber");
    }

    std::uint64_t head = 20;
    std::uint64_t fork_from = 1'000;  // blocks from here on are others
    chains::evm::Options options;
    chains::evm::Nonces nonces;
    support::VirtualClock clock;
    support::VirtualExecutor executor{clock};
    support::ScriptedNode node;
    support::ScriptedNode other;
    WatchEvents events;
    std::vector<std::uint64_t> read;
    std::optional<BlockWatch> watching;
};

constexpr auto standing = &engine::BlockNews::standing;
constexpr auto replaced = &engine::BlockNews::replaced;
constexpr auto buried = &engine::BlockNews::buried;

}  // namespace

TEST_CASE("blocks that stand are said once, then only the highest is asked for until it is deep") {
    WatchHarness harness;
    harness.watch({block_of(18), block_of(19), block_of(20)});
    CHECK(harness.count(standing) == 3);
    CHECK(harness.asked() == 3);
    harness.executor.run_for(5s);
    CHECK(harness.asked() == 13);
    CHECK(harness.count(standing) == 3);

    harness.head = 29;
    harness.executor.run_for(1s);
    CHECK(harness.events.all.back().buried == std::vector{block_of(19), block_of(18)});
    harness.head = 30;
    harness.executor.run_for(1s);
    CHECK(harness.count(buried) == 3);
    CHECK(harness.watching->size() == 0);
    const std::size_t asked = harness.asked();
    harness.executor.run_for(1min);
    CHECK(harness.asked() == asked);
    CHECK(harness.read.empty());
}

TEST_CASE("one that is replaced has all asked for, and those that differ are said and read again") {
    WatchHarness harness;
    harness.watch({block_of(15), block_of(18), block_of(19), block_of(20)});
    harness.fork_from = 18;
    harness.executor.run_for(1s);
    CHECK(harness.events.all.back().replaced ==
          std::vector{block_of(20), block_of(19), block_of(18)});
    CHECK(harness.read == std::vector<std::uint64_t>{18});
    CHECK(harness.watching->size() == 1);
    CHECK(harness.count(standing) == 4);
}

TEST_CASE("a new block of another fork does not stand for the older ones of this one") {
    WatchHarness harness;
    harness.watch({block_of(17), block_of(18), block_of(19)});
    CHECK(harness.count(standing) == 3);
    harness.fork_from = 18;
    harness.watch({block_of(20, 1)});
    CHECK(harness.events.all.back().standing == std::vector{block_of(20, 1)});
    CHECK(harness.events.all.back().replaced == std::vector{block_of(19), block_of(18)});
    CHECK(harness.read == std::vector<std::uint64_t>{18});
    CHECK(harness.watching->size() == 2);
}

TEST_CASE("a block may be on a fork from the start") {
    WatchHarness harness;
    harness.watch({block_of(19), block_of(19, 1)});
    CHECK(harness.events.all.back().standing == std::vector{block_of(19)});
    CHECK(harness.events.all.back().replaced == std::vector{block_of(19, 1)});
}

TEST_CASE("what a node says badly is asked of the next one, and replaces nothing") {
    struct BlockReply {
        const char* label;
        Answer answer;
    };
    Json no_hash = reply_with(block_of(20));
    no_hash.erase("hash");
    Json short_hash = reply_with(block_of(20));
    short_hash["hash"] = "0x1234";
    const BlockReply replies[]{
        {"nothing, though its head is there", Json(nullptr)},
        {"no object", Json("0x14")},
        {"another number", reply_with(block_of(21))},
        {"no hash", no_hash},
        {"a short hash", short_hash},
        {"an error", NodeError{-32000, "header not found", {}}},
        {"no answer", TransportError{TransportError::Kind::timed_out, "no answer in time", {}}},
    };
    for (const bool both : {false, true}) {
        for (const BlockReply& reply : replies) {
            CAPTURE(both);
            CAPTURE(reply.label);
            WatchHarness harness;
            harness.node.say("eth_getBlockByNumber", {reply.answer});
            if (both) harness.other.say("eth_getBlockByNumber", {reply.answer});
            harness.watch({block_of(20)});
            harness.executor.run_for(1min);
            CHECK(harness.count(standing) == (both ? 0 : 1));
            CHECK(harness.count(replaced) == 0);
            CHECK(harness.watching->size() == 1);
            // Still asked: as soon as somebody says it, it is said.
            harness.script(harness.node);
            harness.executor.run_for(1s);
            CHECK(harness.count(standing) == 1);
        }
    }
}

TEST_CASE("a head below a block is believed after three looks over five seconds, at all nodes") {
    struct LowHead {
        const char* label;
        std::chrono::milliseconds low_for;
        bool all_nodes;
        std::size_t replaced;
    };
    for (const LowHead& one :
         {LowHead{"one node lags", 1min, false, 0}, LowHead{"for a moment", 4s, true, 0},
          LowHead{"it stays", 6s, true, 1}}) {
        CAPTURE(one.label);
        WatchHarness harness;
        harness.watch({block_of(20)});
        REQUIRE(harness.count(standing) == 1);
        const auto low = [](support::ScriptedNode& node) {
            node.say("eth_blockNumber", {Json("0x13")});
            node.say("eth_getBlockByNumber", {Json(nullptr)});
        };
        low(harness.node);
        if (one.all_nodes) low(harness.other);
        harness.executor.run_for(one.low_for);
        harness.script(harness.node);
        harness.script(harness.other);
        harness.executor.run_for(1s);
        CHECK(harness.count(replaced) == one.replaced);
        CHECK(harness.watching->size() == 1 - one.replaced);
    }
}

TEST_CASE("what was asked together is said together, also when some of it is deep already") {
    WatchHarness harness;
    bool says_all = false;
    for (support::ScriptedNode* node : {&harness.node, &harness.other}) {
        node->on["eth_getBlockByNumber"] = [&](const Json& params) -> Answer {
            const auto number = *chains::jsonrpc::quantity(params.at(0));
            if (number == 9 && !says_all) return NodeError{-32000, "header not found", {}};
            return reply_with(block_of(number));
        };
    }
    harness.watch({block_of(5), block_of(9)});
    harness.executor.run_for(5s);
    CHECK(harness.count(buried) == 0);
    says_all = true;
    harness.executor.run_for(1s);
    CHECK(harness.events.all.back().standing == std::vector{block_of(9), block_of(5)});
    CHECK(harness.count(buried) == 2);
    CHECK(harness.watching->size() == 0);
}

TEST_CASE("a head that is wrong once lets no block go") {
    WatchHarness harness;
    harness.watch({block_of(20)});
    harness.head = 1'000'000'000;
    harness.executor.run_for(500ms);
    harness.head = 21;
    harness.executor.run_for(1min);
    CHECK(harness.count(buried) == 0);
    harness.fork_from = 20;
    harness.executor.run_for(1s);
    CHECK(harness.count(replaced) == 1);
}

TEST_CASE("many blocks are asked for in batches of the size that is set") {
    WatchHarness harness;
    harness.options.batch_max = 4;
    harness.head = 9;
    std::vector<Block> blocks;
    for (std::uint64_t number = 1; number <= 9; ++number) blocks.push_back(block_of(number));
    harness.watch(blocks);
    CHECK(harness.node.batches == std::vector<std::size_t>{4, 4, 2});
    CHECK(harness.count(standing) == 9);
}

TEST_CASE("nothing is said after a stop") {
    WatchHarness harness;
    harness.watch({block_of(20)});
    harness.watching->stop();
    harness.fork_from = 1;
    harness.executor.run_for(1min);
    CHECK(harness.count(replaced) == 0);
}
