#include "chains/evm/listener.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "chains/evm/simulated_chain.hpp"
#include "support/virtual_time.hpp"

using namespace std::chrono_literals;
using chains::evm::Listener;
using chains::evm::Options;
using chains::evm::SeenLogs;
using chains::jsonrpc::Answer;
using chains::jsonrpc::Json;
using chains::jsonrpc::NodeError;
using chains::jsonrpc::TransportError;
using domain::Milliseconds;
using support::ChainNode;

namespace {

using References = std::vector<std::uint64_t>;

struct ListenerHarness {
    explicit ListenerHarness(chains::evm::Options chosen = support::listening_options())
        : options(std::move(chosen)) {}

    void start(std::optional<std::uint64_t> cursor = std::nullopt) {
        listener.emplace(options, "evm-1", node, executor, clock, logger, &seen);
        listener->start(events, cursor);
        executor.run_due();
    }
    void run_for(domain::Nanoseconds time) { executor.run_for(time); }

    chains::evm::Options options;
    support::VirtualClock clock;
    support::VirtualExecutor executor{clock};
    support::RecordingLogger logger;
    support::SimulatedChain chain;
    ChainNode node{chain};
    SeenLogs seen{clock};
    support::Applied events;
    std::optional<Listener> listener;
};

std::uint64_t widest(const ChainNode& node) {
    std::uint64_t blocks = 0;
    for (const auto& [from, to] : node.ranges) blocks = std::max(blocks, to - from + 1);
    return blocks;
}

}  // namespace

TEST_CASE("a listener without a cursor begins at the head and says so at once") {
    ListenerHarness harness;
    harness.chain.answer(1);
    harness.chain.mine(41);
    harness.start();
    REQUIRE(harness.events.delivered.size() == 1);
    CHECK(harness.events.delivered[0].answers.empty());
    CHECK(harness.events.delivered[0].cursor == 42);
    CHECK(harness.events.delivered[0].listener == "evm-1");
    CHECK(harness.listener->has_start());
    CHECK(harness.listener->head_lag() == 0);

    harness.chain.answer(2);
    harness.run_for(2s);
    CHECK(harness.events.references() == References{2});
    CHECK(harness.events.delivered.back().cursor == 43);
}

TEST_CASE("a listener with a first block says at once that it has all before, asked or not") {
    for (const auto& [first, cursor] : {std::pair{7U, 6U}, std::pair{1U, 0U}, std::pair{0U, 0U}}) {
        CAPTURE(first);
        ListenerHarness harness;
        harness.options.listening.first_block = first;
        harness.node.before = []() -> std::optional<Answer> { return TransportError{}; };
        harness.start();
        REQUIRE(harness.events.delivered.size() == 1);
        CHECK(harness.events.delivered[0].answers.empty());
        CHECK(harness.events.delivered[0].cursor == cursor);
        CHECK(harness.events.delivered[0].listener == "evm-1");
    }
}

TEST_CASE("where a listener begins") {
    struct Row {
        const char* label;
        std::optional<std::uint64_t> first_block;
        std::optional<std::uint64_t> cursor;
        std::uint64_t from;
    };
    const Row rows[] = {
        {"a cursor: what may have changed is read again", {}, 500, 437},
        {"a young chain", {}, 5, 0},
        {"a first block", 7, {}, 7},
        {"the very first block", 0, {}, 0},
        {"a first block does not rewind a cursor", 7, 500, 437},
        {"nothing before the first block", 490, 500, 490},
        {"a first block beyond the cursor skips nothing", 900, 500, 501},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        ListenerHarness harness;
        harness.options.listening.first_block = row.first_block;
        harness.chain.mine(1000);
        harness.start(row.cursor);
        REQUIRE_FALSE(harness.node.ranges.empty());
        CHECK(harness.node.ranges[0].first == row.from);
        CHECK(harness.listener->has_start());
    }
}

TEST_CASE("what is read again does not take the cursor back") {
    ListenerHarness harness;
    harness.options.listening.range_max = 10;
    for (std::uint64_t i = 1; i <= 600; ++i) harness.chain.answer(i);
    harness.start(500);
    CHECK(harness.events.references().front() == 437);
    for (const auto& event : harness.events.delivered) CHECK(event.cursor >= 500);
    CHECK(harness.events.delivered.back().cursor == 600);
}

TEST_CASE("a change of the very block where it began is noticed") {
    ListenerHarness harness;
    harness.chain.mine(100);
    harness.start();
    harness.chain.reorganise(3);
    harness.chain.answer_here(1);
    harness.run_for(4s);
    CHECK(harness.events.references() == References{1});
}

TEST_CASE("a start that fails is tried again for ever") {
    ListenerHarness harness;
    harness.chain.mine(10);
    bool down = true;
    harness.node.before = [&]() -> std::optional<Answer> {
        if (!down) return std::nullopt;
        return TransportError{TransportError::Kind::unsent, "connection refused", {}};
    };
    harness.start();
    CHECK_FALSE(harness.listener->has_start());
    CHECK(harness.listener->problem() == "connection refused");
    harness.run_for(1h);
    CHECK(harness.events.delivered.empty());
    CHECK(harness.node.batches.size() > 700);
    CHECK(harness.node.batches.size() < 730);  // 500 ms, 1 s, 2 s … 5 s
    CHECK(harness.logger.count("listener_trouble") == 1);
    down = false;
    harness.run_for(30s);
    CHECK(harness.listener->has_start());
    CHECK_FALSE(harness.listener->problem());
    CHECK(harness.logger.count("listener_recovered") == 1);
}

TEST_CASE("a million blocks of downtime are read in ranges without pauses") {
    ListenerHarness harness;
    std::multiset<std::uint64_t> expected;
    for (std::uint64_t i = 1; i <= 500; ++i) {
        harness.chain.mine(1'999);
        harness.chain.answer(i);
        expected.insert(i);
    }
    harness.start(0);
    harness.run_for(0s);
    harness.events.commit();
    CHECK(harness.events.answers == expected);
    CHECK(harness.events.cursors["evm-1"] == 1'000'000);
    CHECK(widest(harness.node) == 2'000);
    CHECK(harness.node.ranges.size() <= 502);
    CHECK(harness.node.count("eth_blockNumber") < 5);
    CHECK(harness.listener->head_lag() == 0);
}

TEST_CASE("ranges adapt to what nodes allow") {
    struct Row {
        const char* label;
        std::uint64_t cap;
        NodeError says;
    };
    const Row rows[] = {
        {"a power of two below", 500, {-32000, "range too wide", {}}},
        {"an odd cap", 777, {-32005, "query returned more than 10000 results", {}}},
        {"parameters", 1'500, {-32602, "Log response size exceeded", {}}},
        {"tiny", 3, {-32614, "eth_getLogs is limited", {}}},
        {"one block", 1, {0, "", {}}},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        ListenerHarness harness;
        harness.node.range_cap = row.cap;
        harness.node.over_cap = row.says;
        std::multiset<std::uint64_t> expected;
        for (std::uint64_t i = 1; i <= 40; ++i) {
            harness.chain.mine(99);
            harness.chain.answer(i);
            expected.insert(i);
        }
        harness.start(0);
        harness.run_for(0s);
        harness.events.commit();
        CHECK(harness.events.answers == expected);
        CHECK_FALSE(harness.listener->problem());
        const auto& ranges = harness.node.ranges;
        const auto refused = std::count_if(ranges.begin(), ranges.end(), [&](const auto& range) {
            return range.second - range.first + 1 > row.cap;
        });
        CHECK(refused >= 1);
        CHECK(static_cast<std::size_t>(refused) <= 12 + ranges.size() / 7);
    }
}

TEST_CASE("a range grows back once the node is well again") {
    ListenerHarness harness;
    harness.node.range_cap = 1;
    harness.chain.mine(3'000);
    harness.start(2'990);
    harness.run_for(0s);
    harness.node.range_cap.reset();
    harness.chain.mine(20'000);
    harness.run_for(2s);
    CHECK(harness.listener->head_lag() == 0);
    CHECK(widest(harness.node) == 2'000);
}

TEST_CASE("answers too large for the connection shrink the range too") {
    for (const auto kind : {TransportError::Kind::garbled, TransportError::Kind::timed_out,
                            TransportError::Kind::lost}) {
        CAPTURE(static_cast<int>(kind));
        ListenerHarness harness;
        harness.chain.mine(99);
        harness.chain.answer(1);
        harness.node.on["eth_getLogs"] =
            [&, answer = harness.node.on["eth_getLogs"]](const Json& params) -> Answer {
            const Answer said = answer(params);
            const auto& [from, to] = harness.node.ranges.back();
            if (to - from >= 20) return TransportError{kind, "too large", {}};
            return said;
        };
        harness.start(0);
        CHECK(harness.listener->problem() == "too large");
        harness.run_for(30s);
        CHECK(harness.events.references() == References{1});
        CHECK_FALSE(harness.listener->problem());
    }
}

TEST_CASE("a block that is refused for itself is not passed over") {
    ListenerHarness harness;
    harness.node.range_cap = 0;
    harness.chain.answer(1);
    harness.chain.mine(5);
    harness.start(0);
    harness.run_for(10min);
    CHECK(harness.events.references().empty());
    CHECK(harness.listener->problem() == "the node refuses: block range is too wide (-32000)");
    CHECK(harness.listener->head_lag() == 7);  // block 0 is read again too
    CHECK(harness.listener->head_lag(3) == 7);
    CHECK(harness.listener->head_lag(16) == 17);
    CHECK(harness.node.ranges.size() < 40);
    harness.node.range_cap.reset();
    harness.run_for(30s);
    CHECK(harness.events.references() == References{1});
}

TEST_CASE("a node that comes back after an outage is heard within seconds") {
    ListenerHarness harness;
    harness.start();
    harness.run_for(2s);
    bool down = true;
    harness.node.before = [&]() -> std::optional<Answer> {
        if (!down) return std::nullopt;
        return TransportError{TransportError::Kind::unsent, "connection refused", {}};
    };
    harness.run_for(10min);
    CHECK(harness.listener->problem() == "connection refused");
    const std::size_t calls = harness.node.batches.size();
    CHECK(calls < 300);
    harness.chain.answer(1);
    down = false;
    harness.run_for(5s);
    CHECK(harness.events.references() == References{1});
    CHECK_FALSE(harness.listener->problem());
}

TEST_CASE("a throttle is obeyed, also by nudges") {
    ListenerHarness harness;
    harness.chain.mine(10);
    harness.start();
    harness.run_for(2s);
    int throttles = 3;
    harness.node.before = [&]() -> std::optional<Answer> {
        if (throttles-- <= 0) return std::nullopt;
        return TransportError{TransportError::Kind::throttled, "HTTP 429", Milliseconds{7'000}};
    };
    harness.chain.answer(1);
    harness.run_for(2s);
    const std::size_t calls = harness.node.batches.size();
    harness.run_for(6'990ms);
    harness.listener->wake();
    harness.run_for(5ms);
    CHECK(harness.node.batches.size() == calls);
    CHECK(harness.listener->problem() == "HTTP 429");
    harness.run_for(60s);
    CHECK(harness.events.references() == References{1});
    CHECK(widest(harness.node) <= 11);
}

TEST_CASE("being turned away for the size of the answer does not last for ever") {
    const TransportError says[]{
        {TransportError::Kind::throttled, "more than 10000 results (-32005)", 1s},
        {TransportError::Kind::unsent, "Unable to complete request at this time.", {}},
    };
    for (const TransportError& said_of_many : says) {
        CAPTURE(said_of_many.text);
        ListenerHarness harness;
        harness.chain.mine(499);
        harness.chain.answer(1);
        harness.node.on["eth_getLogs"] =
            [&, answer = harness.node.on["eth_getLogs"]](const Json& params) -> Answer {
            const Answer said = answer(params);
            const auto& [from, to] = harness.node.ranges.back();
            if (to - from < 100) return said;
            return said_of_many;
        };
        harness.start(0);
        harness.run_for(60s);
        CHECK(harness.events.references() == References{1});
        CHECK_FALSE(harness.listener->problem());
    }
}

TEST_CASE("a range that is refused together with what was asked beside it is halved") {
    ListenerHarness harness;
    harness.chain.mine(100);
    harness.start();
    harness.node.range_cap = 10;
    harness.node.on["eth_getBlockByNumber"] =
        [&, answer = harness.node.on["eth_getBlockByNumber"]](const Json& params) -> Answer {
        const bool is_before = params[0] == "0x64";  // asked after the logs
        if (is_before && widest(harness.node) > 10) return NodeError{-32000, "too much", {}};
        return answer(params);
    };
    harness.chain.mine(50);
    harness.chain.answer(1);
    harness.run_for(3s);
    harness.node.ranges.clear();
    harness.run_for(20s);
    CHECK(harness.events.references() == References{1});
    CHECK_FALSE(harness.listener->problem());
}

TEST_CASE("a node that lags with its logs is waited for in its own words, with the whole range") {
    const NodeError says[]{
        {-32001,
         "One of the blocks specified in filter (fromBlock, toBlock or blockHash) cannot be found.",
         {}},
        {-32000, "requested from block 61 after last accepted block 60", {}},
        {-32602, "block range extends beyond current head block", {}},
    };
    for (const NodeError& lags : says) {
        CAPTURE(lags.message);
        ListenerHarness harness;
        harness.chain.mine(10);
        harness.start();
        bool behind = true;
        harness.node.on["eth_getLogs"] =
            [&, answer = harness.node.on["eth_getLogs"]](const Json& params) -> Answer {
            if (behind) return lags;
            return answer(params);
        };
        harness.chain.mine(50);
        harness.chain.answer(1);
        harness.run_for(4s);
        CHECK_FALSE(harness.listener->problem());
        harness.run_for(10s);
        CHECK(harness.listener->problem());
        behind = false;
        harness.run_for(4s);
        CHECK_FALSE(harness.listener->problem());
        CHECK(harness.events.references() == References{1});
        CHECK(widest(harness.node) >= 51);
    }
}

TEST_CASE("while too many answers wait to be stored nothing is read") {
    ListenerHarness harness;
    harness.start();
    harness.run_for(2s);
    harness.events.is_full = true;
    harness.chain.answer(1);
    const std::size_t calls = harness.node.calls.size();
    harness.run_for(1min);
    CHECK(harness.node.calls.size() == calls);
    CHECK_FALSE(harness.listener->problem());
    harness.events.is_full = false;
    harness.run_for(5s);
    CHECK(harness.events.references() == References{1});
}

TEST_CASE("one log that is not to be believed discards its answer") {
    const std::string other_hash = "0x" + std::string(64, 'a');
    struct Row {
        const char* label;
        std::function<void(Json& logs)> distort;
    };
    const Row rows[] = {
        {"no list", [](Json& logs) { logs = Json::object(); }},
        {"null", [](Json& logs) { logs = nullptr; }},
        {"no object", [](Json& logs) { logs.push_back("log"); }},
        {"before the range", [](Json& logs) { logs[0]["blockNumber"] = "0x1"; }},
        {"beyond the range", [](Json& logs) { logs[0]["blockNumber"] = "0xffff"; }},
        {"another contract", [](Json& logs) { logs[0]["address"] = "0x" + std::string(40, '1'); }},
        {"another event", [&](Json& logs) { logs[0]["topics"][0] = other_hash; }},
        {"no topics", [](Json& logs) { logs[0]["topics"] = Json::array(); }},
        {"five topics",
         [&](Json& logs) {
             for (int i = 0; i < 3; ++i) logs[0]["topics"].push_back(other_hash);
         }},
        {"a short topic", [](Json& logs) { logs[0]["topics"][1] = "0x12"; }},
        {"no data", [](Json& logs) { logs[0].erase("data"); }},
        {"odd data", [](Json& logs) { logs[0]["data"] = "0x1"; }},
        {"pending", [](Json& logs) { logs[0]["blockNumber"] = nullptr; }},
        {"a block number as a number", [](Json& logs) { logs[0]["blockNumber"] = 101; }},
        {"no log index", [](Json& logs) { logs[0].erase("logIndex"); }},
        {"removed is no bool", [](Json& logs) { logs[0]["removed"] = "no"; }},
        {"the last block with another hash",
         [&](Json& logs) { logs[1]["blockHash"] = other_hash; }},
        {"two blocks with one number",
         [&](Json& logs) {
             logs.push_back(logs[0]);
             logs[2]["logIndex"] = "0x1";
             logs[2]["blockHash"] = other_hash;
         }},
        {"two logs in one place",
         [](Json& logs) {
             logs.push_back(logs[0]);
             logs[2]["topics"][1] = logs[1]["topics"][1];
         }},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        ListenerHarness harness;
        harness.chain.mine(100);
        harness.start();
        int lies = 4;
        harness.node.distort = [&](Json logs) {
            if (lies-- > 0) row.distort(logs);
            return logs;
        };
        harness.chain.answer(1);
        harness.chain.answer(2);
        harness.run_for(2s);
        CHECK(harness.events.references().empty());
        CHECK(harness.listener->problem());
        CHECK(harness.logger.count("listener_trouble") == 1);
        harness.run_for(30s);
        CHECK(harness.events.references() == References{1, 2});
        CHECK_FALSE(harness.listener->problem());
    }
}

TEST_CASE("field 109: logs nobody asked for are not taken, and their blocks are not passed over") {
    const bool ends[] = {true, false};
    for (const bool lies_end : ends) {
        CAPTURE(lies_end);
        ListenerHarness harness;
        harness.chain.mine(100);
        harness.start();
        harness.run_for(2s);
        const auto begun = harness.clock.monotonic();
        harness.node.distort = [&](Json logs) {
            if (lies_end && harness.clock.monotonic() - begun > 20s) return logs;
            Json foreign = harness.chain.log(harness.chain.head, 7, 99);
            foreign["address"] = "0x" + std::string(40, '1');
            logs.push_back(std::move(foreign));
            return logs;
        };
        for (std::uint64_t number = 1; number <= 5; ++number) harness.chain.answer(number);
        harness.run_for(15s);
        CHECK(harness.events.references().empty());
        CHECK(harness.listener->problem());
        harness.run_for(5min);
        CHECK(harness.events.references() == (lies_end ? References{1, 2, 3, 4, 5} : References{}));
        CHECK(harness.listener->problem().has_value() != lies_end);
    }
}

TEST_CASE("hostile heads and blocks are not believed") {
    struct Row {
        const char* label;
        const char* method;
        Answer says;
    };
    const Row rows[] = {
        {"head: null", "eth_blockNumber", Json(nullptr)},
        {"head: number", "eth_blockNumber", Json(7)},
        {"head: text", "eth_blockNumber", Json("head")},
        {"head: object", "eth_blockNumber", Json::object()},
        {"head: 2^64 - 1", "eth_blockNumber", Json("0xffffffffffffffff")},
        {"head: 2^65", "eth_blockNumber", Json("0x20000000000000000")},
        {"head: refused", "eth_blockNumber", NodeError{-32000, "no", {}}},
        {"block: text", "eth_getBlockByNumber", Json("block")},
        {"block: another", "eth_getBlockByNumber",
         Json{{"number", "0x1"}, {"hash", "0x" + std::string(64, '1')}}},
        {"block: no hash", "eth_getBlockByNumber", Json{{"number", "0x65"}}},
        {"block: short hash", "eth_getBlockByNumber", Json{{"number", "0x65"}, {"hash", "0x1"}}},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        ListenerHarness harness;
        harness.chain.mine(100);
        harness.start();
        const auto honest = harness.node.on[row.method];
        harness.node.on[row.method] = [&](const Json&) { return row.says; };
        harness.chain.answer(1);
        harness.run_for(20s);
        CHECK(harness.events.references().empty());
        CHECK(harness.listener->problem());
        CHECK(harness.logger.count("chain_") == 0);
        harness.node.on[row.method] = honest;
        harness.run_for(30s);
        CHECK(harness.events.references() == References{1});
        CHECK_FALSE(harness.listener->problem());
    }
}

TEST_CASE("an event that does not decode is skipped with one warning, its neighbours are not") {
    ListenerHarness harness;
    harness.start();
    harness.chain.answer(1);
    harness.chain.answer_here(2);
    harness.chain.answer_here(3);
    harness.node.distort = [](Json logs) {
        if (logs.size() == 3) logs[1]["data"] = "0x01";  // RejectProofResponse has none
        return logs;
    };
    harness.run_for(20s);
    CHECK(harness.events.references() == References{1, 3});
    CHECK(harness.logger.count("answer_undecodable listener=evm-1 block=1 log=1") == 1);
    CHECK_FALSE(harness.listener->problem());
}

TEST_CASE("a threshold without its share is read again, and passed after five tries") {
    ListenerHarness harness;
    harness.start();
    harness.chain.answer(1);
    harness.node.distort = [](Json logs) {
        for (Json& log : logs) {
            log["topics"][0] = "0xe89752be0ecdb68b2a6eb5ef1a891039e0e92ae3c8a62274c5881e48eea1ed25";
        }
        return logs;
    };
    harness.run_for(5s);
    CHECK(harness.listener->problem());
    CHECK(harness.listener->head_lag() == 1);
    harness.run_for(20s);
    CHECK(harness.events.references().empty());
    CHECK(harness.logger.count("answer_undecodable listener=evm-1 block=1 log=0") == 1);
    CHECK(harness.listener->head_lag() == 0);
    CHECK_FALSE(harness.listener->problem());
}

TEST_CASE("what is read again is delivered again, and the cursor stays") {
    ListenerHarness harness;
    harness.start();
    for (std::uint64_t number = 1; number <= 3; ++number) harness.chain.answer(number);
    harness.run_for(20s);
    REQUIRE(harness.events.references() == References{1, 2, 3});
    harness.events.commit();
    const auto cursor = harness.events.cursor("evm-1");
    harness.node.ranges.clear();
    harness.listener->read_again(2);
    harness.run_for(1s);
    CHECK(harness.events.references() == References{1, 2, 3, 1, 2, 3});
    harness.events.commit();
    CHECK(harness.events.cursor("evm-1") == cursor);
    REQUIRE(!harness.node.ranges.empty());
    harness.chain.answer(4);
    harness.run_for(20s);
    CHECK(harness.events.references() == References{1, 2, 3, 1, 2, 3, 4});
    CHECK(harness.listener->head_lag() == 0);
}

TEST_CASE("of several blocks that are to be read again the lowest counts") {
    ListenerHarness harness;
    harness.options.listening.range_max = 1;
    harness.start();
    for (std::uint64_t number = 1; number <= 3; ++number) harness.chain.answer(number);
    harness.run_for(20s);
    REQUIRE(harness.events.references() == References{1, 2, 3});
    harness.listener->read_again(1);
    harness.listener->read_again(3);
    harness.run_for(10s);
    CHECK(harness.events.references() == References{1, 2, 3, 1, 2, 3});
}

TEST_CASE("a block that is asked for again and again before it is read goes back once") {
    ListenerHarness harness;
    harness.options.listening.range_max = 2;
    harness.start();
    for (std::uint64_t number = 1; number <= 9; ++number) harness.chain.answer(number);
    harness.run_for(30s);
    REQUIRE(harness.events.references() == References{1, 2, 3, 4, 5, 6, 7, 8, 9});
    harness.events.is_full = true;
    for (int times = 0; times < 4; ++times) {
        harness.listener->read_again(9);
        harness.run_for(5s);
    }
    harness.events.is_full = false;
    harness.run_for(30s);
    CHECK(harness.events.references() == References{1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 9});
}

TEST_CASE("a node that has a block before the block's logs loses no answer") {
    struct Row {
        const char* label;
        Milliseconds delay;
        std::uint64_t blocks_a_second;  // afterwards
        std::uint64_t range_max;
    };
    const Row rows[] = {
        {"by the next poll, the chain stands", 500ms, 0, 1'000},
        {"after 3 s, the chain stands", 3s, 0, 1'000},
        {"after 9 s, the chain stands", 9s, 0, 1'000},
        {"after 3 s, a block a second", 3s, 1, 1'000},
        {"after 9 s, four blocks a second", 9s, 4, 1'000},
        {"after 2 s, four blocks a second, ten at once", 2s, 4, 10},
        {"after 5 s, the chain stands, one at once", 5s, 0, 1},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        ListenerHarness harness;
        harness.options.listening.range_max = row.range_max;
        harness.start();
        harness.run_for(1s);
        harness.chain.answer(1);
        harness.chain.answer_here(2);
        const domain::Monotonic since = harness.clock.monotonic();
        harness.node.distort = [&](Json logs) {
            if (harness.clock.monotonic() - since >= row.delay) return logs;
            return Json(Json::array());
        };
        for (int second = 0; second < 30; ++second) {
            harness.run_for(1s);
            harness.chain.mine(row.blocks_a_second);
        }
        CHECK(harness.events.references() == References{1, 2});
        CHECK_FALSE(harness.listener->problem());
        // What is old is left alone.
        harness.node.ranges.clear();
        harness.run_for(5s);
        if (row.blocks_a_second == 0) CHECK(harness.node.ranges.empty());
        CHECK(widest(harness.node) <= 12 * row.blocks_a_second + 5);
    }
}

TEST_CASE("a block that is replaced while its logs are waited for is read anew") {
    ListenerHarness harness;
    harness.start();
    harness.chain.answer(1);
    harness.run_for(2s);
    harness.chain.reorganise(1);
    harness.chain.answer_here(2);
    harness.run_for(5s);
    CHECK(harness.events.references() == References{1, 2});
}

TEST_CASE("removed logs are dropped, repeated ones delivered once, disorder is put right") {
    ListenerHarness harness;
    harness.start();
    harness.chain.answer(1);
    harness.chain.answer_here(2);
    harness.chain.answer(3);
    harness.chain.answer(4);
    harness.node.distort = [](Json logs) {
        if (logs.size() != 4) return logs;
        Json removed = logs[0];
        removed["removed"] = true;
        removed["blockHash"] = "0x" + std::string(64, '7');
        removed["topics"][1] = "0x" + std::string(64, '9');
        return Json::array({logs[3], removed, logs[1], logs[0], logs[2], logs[0]});
    };
    harness.run_for(2s);
    CHECK(harness.events.references() == References{1, 2, 3, 4});
}

TEST_CASE("references keep their 256 bits") {
    ListenerHarness harness;
    harness.start();
    harness.chain.answer(1);
    harness.node.distort = [](Json logs) {
        for (Json& log : logs) log["topics"][1] = "0x02" + std::string(60, 'f') + "01";
        return logs;
    };
    harness.run_for(2s);
    REQUIRE(harness.events.references().size() == 1);
    CHECK(domain::to_hex(harness.events.delivered.back().answers[0].reference) ==
          "02" + std::string(60, 'f') + "01");
}

TEST_CASE("the question names both contracts and the five events, by number") {
    ListenerHarness harness;
    harness.chain.mine(5);
    harness.start(3);
    for (const auto& call : harness.node.calls) {
        if (call.method != "eth_getLogs") continue;
        CHECK(call.params[0]["fromBlock"] == "0x0");
        CHECK(call.params[0]["toBlock"] == "0x5");
        CHECK(call.params[0]["address"].size() == 2);
        REQUIRE(call.params[0]["topics"].size() == 1);
        CHECK(call.params[0]["topics"][0].size() == 5);
    }
    CHECK(harness.node.count("eth_getLogs") == 1);
}

TEST_CASE("confirmations hold answers back") {
    ListenerHarness harness;
    harness.options.listening.confirmations = 3;
    harness.start(0);
    harness.chain.answer(1);
    harness.chain.mine(2);
    harness.run_for(10s);
    CHECK(harness.events.references().empty());
    CHECK(harness.listener->head_lag() == 3);
    harness.chain.mine();
    harness.run_for(2s);
    CHECK(harness.events.references() == References{1});
    CHECK(harness.events.delivered.back().cursor == 1);
}

TEST_CASE("quiet polls deliver a cursor every 30 s, and only a new one") {
    ListenerHarness harness;
    harness.start();
    for (int i = 0; i < 150; ++i) {
        harness.chain.mine();
        harness.run_for(2s);
    }
    CHECK(harness.events.delivered.size() >= 10);
    CHECK(harness.events.delivered.size() <= 11);
    CHECK(harness.events.delivered.back().cursor > 130);
    harness.run_for(60s);
    const std::size_t before = harness.events.delivered.size();
    CHECK(harness.events.delivered.back().cursor == 150);
    harness.run_for(10min);
    CHECK(harness.events.delivered.size() == before);
}

TEST_CASE("a change of any depth up to the greatest is read again") {
    for (std::uint64_t depth = 1; depth <= 64; ++depth) {
        CAPTURE(depth);
        ListenerHarness harness;
        harness.start();
        for (std::uint64_t i = 1; i <= 80; ++i) {
            harness.chain.answer(i);
            harness.run_for(2s);
        }
        harness.chain.reorganise(depth);
        harness.chain.answer_here(1'000);  // as high as before: the head does not tell
        harness.run_for(4s);
        CHECK(harness.logger.count("chain_reorganised depth=" + std::to_string(depth) + " ") == 1);
        CHECK(harness.logger.count("chain_") == 1);
        CHECK(harness.events.references().back() == 1'000);
        CHECK(harness.events.references().size() == 81);
        CHECK(harness.events.delivered.back().cursor == 80);
        harness.chain.answer(1'001);
        harness.run_for(4s);
        CHECK(harness.events.references().back() == 1'001);
        CHECK(harness.logger.count("chain_") == 1);
    }
}

TEST_CASE("a change deeper than is looked for is read again as far as that") {
    ListenerHarness harness;
    harness.options.listening.reorg_depth = 5;
    harness.start();
    for (std::uint64_t i = 1; i <= 20; ++i) {
        harness.chain.mine();
        harness.run_for(2s);
    }
    harness.chain.reorganise(12);
    harness.chain.mine();
    harness.run_for(4s);
    CHECK(harness.logger.count("chain_reorganised depth=5 ") == 1);
    CHECK(harness.listener->head_lag() == 0);
    harness.run_for(30s);
    CHECK(harness.logger.count("chain_") == 1);
}

TEST_CASE("a change while the range is read is noticed") {
    // Before which call of an exchange the chain changes: last block, logs, block before.
    for (int at = 1; at <= 5; ++at) {
        CAPTURE(at);
        ListenerHarness harness;
        harness.chain.mine(100);
        harness.start();
        harness.chain.mine(5);
        harness.run_for(4s);
        harness.chain.answer(1);
        int calls = 0;
        harness.node.before = [&]() -> std::optional<Answer> {
            if (++calls != at) return std::nullopt;
            harness.chain.reorganise(4);
            harness.chain.answer_here(2);
            return std::nullopt;
        };
        harness.run_for(10s);
        const auto references = harness.events.references();
        CHECK(std::count(references.begin(), references.end(), 2) >= 1);
        CHECK(harness.listener->head_lag() == 0);
    }
}

TEST_CASE("a node that lags in turn is waited for") {
    ListenerHarness harness;
    harness.chain.mine(8);
    harness.start();
    std::uint64_t turn = 0;
    harness.node.lag = [&] { return turn++ % 2; };
    for (std::uint64_t i = 1; i <= 30; ++i) {
        harness.chain.answer(i);
        harness.run_for(2s);
    }
    harness.node.lag = [] { return std::uint64_t{0}; };
    harness.run_for(4s);
    harness.events.commit();
    CHECK(harness.events.answers == harness.chain.answers());
    CHECK(harness.logger.count("chain_") == 0);
    CHECK(harness.logger.count("listener_trouble") == 0);
}

TEST_CASE("a head that stays low for 5 s is a chain that lost its tail") {
    ListenerHarness harness;
    harness.start();
    for (std::uint64_t i = 1; i <= 20; ++i) {
        harness.chain.answer(i);
        harness.run_for(2s);
    }
    harness.chain.cut(17);
    harness.run_for(4s);
    CHECK(harness.logger.count("chain_") == 0);
    harness.run_for(6s);
    CHECK(harness.logger.count("chain_reorganised depth=3 ") == 1);
    CHECK(harness.listener->head_lag() == 0);
    harness.chain.answer(100);
    harness.run_for(2s);
    CHECK(harness.events.references().back() == 100);
}

TEST_CASE("a chain that was reset is read from its beginning") {
    struct Row {
        const char* label;
        std::uint64_t head;
        std::uint64_t from;
    };
    for (const Row& row : {Row{"young", 50, 0}, Row{"grown", 1'000, 936}}) {
        CAPTURE(row.label);
        ListenerHarness harness;
        harness.chain.reset(row.head - 1);
        harness.chain.answer(7);
        harness.start(1'000'000);
        harness.run_for(4s);
        CHECK(harness.node.ranges.empty());
        harness.run_for(10s);
        CHECK(harness.logger.count("chain_shorter listener=evm-1") == 1);
        REQUIRE_FALSE(harness.node.ranges.empty());
        CHECK(harness.node.ranges[0].first == row.from);
        CHECK(harness.events.references() == References{7});
        // Should the process die now, it begins there again.
        CHECK(harness.events.delivered[0].cursor + (row.from == 0 ? 0 : 1) == row.from);
        CHECK(harness.events.delivered.back().cursor == row.head);
    }
}

TEST_CASE("beyond the head there is nothing yet") {
    ListenerHarness harness;
    harness.chain.mine(10);
    harness.start();
    // The head comes from one node, the logs from another one that is behind.
    harness.node.on["eth_blockNumber"] = [](const Json&) -> Answer { return Json("0xc"); };
    harness.run_for(4s);
    CHECK_FALSE(harness.listener->problem());
    CHECK(harness.events.delivered.size() == 1);
    harness.run_for(10s);
    CHECK(harness.listener->problem() == "the node does not have block 11");
    harness.chain.mine(1);
    harness.chain.answer(1);
    harness.run_for(4s);
    CHECK_FALSE(harness.listener->problem());
    CHECK(harness.events.references() == References{1});
}

TEST_CASE("a nudge polls now, once") {
    ListenerHarness harness;
    harness.start();
    harness.run_for(3s);
    harness.chain.answer(1);
    harness.listener->wake();
    harness.listener->wake();
    const std::size_t calls = harness.node.count("eth_blockNumber");
    harness.run_for(0s);
    CHECK(harness.events.references() == References{1});
    CHECK(harness.node.count("eth_blockNumber") == calls + 1);
    harness.run_for(20s);
    CHECK(harness.node.count("eth_blockNumber") <= calls + 12);
}

TEST_CASE("a nudge during a poll leads to another one") {
    ListenerHarness harness;
    harness.start();
    harness.run_for(2s);
    bool once = true;
    harness.node.before = [&]() -> std::optional<Answer> {
        if (once) harness.listener->wake();
        once = false;
        return std::nullopt;
    };
    const std::size_t calls = harness.node.count("eth_blockNumber");
    harness.run_for(2s + 20ms);
    CHECK(harness.node.count("eth_blockNumber") == calls + 2);
}

TEST_CASE("a flood of nudges polls fifty times a second, no more") {
    ListenerHarness harness;
    harness.start();
    harness.run_for(3s);
    const std::size_t calls = harness.node.count("eth_blockNumber");
    for (int nudge = 0; nudge < 1'000; ++nudge) {
        harness.listener->wake();
        harness.run_for(1ms);
    }
    const std::size_t polls = harness.node.count("eth_blockNumber") - calls;
    CHECK(polls >= 45);
    CHECK(polls <= 51);
}

TEST_CASE("answers that do not decode fill no log, however many there are") {
    ListenerHarness harness;
    harness.start();
    harness.node.distort = [](Json logs) {
        for (Json& log : logs) log["data"] = "0x01";
        return logs;
    };
    for (int block = 0; block < 100; ++block) {
        harness.chain.answer(1);
        for (int log = 0; log < 50; ++log) harness.chain.answer_here(1);
        harness.run_for(1s);
    }
    CHECK(harness.logger.count("answer_undecodable") == 2);
}

TEST_CASE("nothing is delivered or asked after stop") {
    ListenerHarness harness;
    harness.start();
    harness.chain.answer(1);
    harness.listener->stop();
    CHECK(harness.node.stopped);
    const std::size_t events = harness.events.delivered.size();
    const std::size_t calls = harness.node.calls.size();
    harness.listener->wake();
    harness.run_for(1h);
    CHECK(harness.events.delivered.size() == events);
    CHECK(harness.node.calls.size() == calls);
}

TEST_CASE("a node that was stopped ends the polling") {
    ListenerHarness harness;
    harness.start();
    harness.node.before = [] {
        return TransportError{TransportError::Kind::stopped, "stopped", {}};
    };
    harness.run_for(2s);
    CHECK(harness.executor.pending() == 0);
}

TEST_CASE("a stop is no recovery and no trouble of a listener") {
    for (const bool in_trouble : {false, true}) {
        CAPTURE(in_trouble);
        ListenerHarness harness;
        harness.node.before = [&]() -> std::optional<Answer> {
            if (!in_trouble) return std::nullopt;
            return TransportError{TransportError::Kind::unsent, "connection refused", {}};
        };
        harness.start();
        harness.run_for(10s);
        harness.node.before = [] {
            return TransportError{TransportError::Kind::stopped, "stopped", {}};
        };
        harness.run_for(1min);
        CHECK(harness.logger.count("listener_trouble") == (in_trouble ? 1 : 0));
        CHECK(harness.logger.count("listener_recovered") == 0);
        CHECK(harness.listener->problem().has_value() == in_trouble);
    }
}

TEST_CASE("tasks may outlive their listener") {
    ListenerHarness harness;
    harness.start();
    CHECK(harness.executor.pending() == 1);
    harness.listener.reset();
    harness.run_for(1h);
    CHECK(harness.executor.pending() == 0);
}

TEST_CASE("a poll that hangs is trouble") {
    ListenerHarness harness;
    harness.start();
    harness.clock.advance(5min);  // nobody runs the task that is due
    CHECK(harness.listener->problem() == "no poll for 300 s");
    harness.executor.run_due();
    CHECK_FALSE(harness.listener->problem());
}

TEST_CASE("two listeners deliver an answer once while the second is close behind") {
    ListenerHarness harness;
    ChainNode second_node{harness.chain};
    harness.start();
    Listener second{harness.options, "evm-2",        second_node,  harness.executor,
                    harness.clock,   harness.logger, &harness.seen};
    second.start(harness.events, std::nullopt);
    harness.run_for(1s);
    harness.chain.answer(1);
    harness.run_for(4s);
    CHECK(harness.events.references() == References{1});
    // Longer than that it is not remembered: rather twice than never.
    second_node.lag = [] { return std::uint64_t{1}; };
    harness.chain.answer(2);
    harness.run_for(20s);
    second_node.lag = [] { return std::uint64_t{0}; };
    harness.run_for(4s);
    CHECK(harness.events.references() == References{1, 2, 2});
    CHECK(second.head_lag() == 0);
}

TEST_CASE("what was seen: time to live, capacity, hashes") {
    support::VirtualClock clock;
    SeenLogs seen{clock, Milliseconds{5'000}, 2};
    chains::evm::Log log;
    CHECK_FALSE(seen.has(log));
    seen.mark(log);
    CHECK(seen.has(log));
    chains::evm::Log moved = log;
    moved.block_hash[0] = 1;
    CHECK_FALSE(seen.has(moved));
    chains::evm::Log other = log;
    other.index = 1;
    CHECK_FALSE(seen.has(other));
    seen.mark(moved);
    seen.mark(other);
    CHECK_FALSE(seen.has(log));
    CHECK(seen.size() == 2);
    clock.advance(5'001ms);
    CHECK_FALSE(seen.has(other));
    seen.mark(log);
    CHECK(seen.size() == 1);
}

TEST_CASE("a listener without a cursor begins where the furthest of the others is") {
    engine::Resume resume;
    CHECK_FALSE(chains::evm::furthest_cursor(resume).has_value());
    resume.cursors = {{"votes", 900}};
    CHECK_FALSE(chains::evm::furthest_cursor(resume).has_value());
    resume.cursors = {{"evm-00000001", 17}, {"evm-00000002", 42}, {"evm-00000003", 5}};
    CHECK(chains::evm::furthest_cursor(resume) == 42);
}

TEST_CASE("names of listeners are stable and tell nothing") {
    using L = chains::evm::Options::Listener;
    const auto polling = [](std::string url) { return L{L::Type::polling, std::move(url)}; };
    const auto name = [&](std::string url) {
        return chains::evm::listener_name(polling(std::move(url)));
    };
    const std::string plain = name("https://rpc.example:8545/v2/KEY?x=TOKEN");
    CHECK(plain.size() == 12);
    CHECK(plain.starts_with("evm-"));
    CHECK(plain.find_first_not_of("0123456789abcdef", 4) == std::string::npos);
    for (const char* same :
         {"https://rpc.example:8545", "https://u:k3y@rpc.example:8545/", "HTTPS://RPC.example:8545",
          "https://rpc.example:8545?x=1", "https://rpc.example:8545#@other"}) {
        CAPTURE(same);
        CHECK(name(same) == plain);
    }
    for (const char* other :
         {"http://rpc.example:8545", "https://rpc.example", "https://rpc2.example:8545", ""}) {
        CAPTURE(other);
        CHECK(name(other) != plain);
    }
    CHECK(chains::evm::listener_name({L::Type::subscription, "https://rpc.example:8545"}) != plain);
    const auto names = chains::evm::listener_names(
        {polling("http://a"), polling("http://b"), polling("http://a"), polling("http://a/2")});
    CHECK(names[2] == names[0] + "-2");
    CHECK(names[3] == names[0] + "-3");
    CHECK(names[1] != names[0]);
}
