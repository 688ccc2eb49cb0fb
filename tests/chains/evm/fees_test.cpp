#include "chains/evm/fees.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "chains/evm/scripted_node.hpp"
#include "chains/jsonrpc/decode.hpp"
#include "support/virtual_time.hpp"

using chains::evm::bumped;
using chains::evm::decode_fee_history;
using chains::evm::FeeAnswer;
using chains::evm::FeeQuote;
using chains::evm::Fees;
using chains::evm::lowered;
using chains::evm::Options;
using chains::jsonrpc::Json;
using chains::jsonrpc::NodeError;
using chains::jsonrpc::TransportError;
using chains::jsonrpc::Wei;
using namespace std::chrono_literals;

namespace {

std::uint64_t small(chains::jsonrpc::Wei wei) {
    return static_cast<std::uint64_t>(wei);
}

FeeQuote quote_of(const FeeAnswer& answer) {
    REQUIRE(std::holds_alternative<FeeQuote>(answer));
    return std::get<FeeQuote>(answer);
}

}  // namespace

TEST_CASE("base and priority fee of a history (evm-gateway 5.3)") {
    struct Row {
        std::string_view label;
        Json history;
        std::optional<std::uint64_t> base;
        std::uint64_t priority;
    };
    const Row rows[]{
        {"the second to last base fee; the middle of three rewards",
         {{"baseFeePerGas", {"0x1", "0x64", "0x65"}}, {"reward", {{"0x5"}, {"0x1"}, {"0x3"}}}},
         100,
         3},
        {"the mean of the two middle ones",
         {{"baseFeePerGas", {"0x64", "0x65"}}, {"reward", {{"0x2"}, {"0x8"}, {"0x4"}, {"0x6"}}}},
         100,
         5},
        {"rewards of 0 do not count",
         {{"baseFeePerGas", {"0x64", "0x65"}}, {"reward", {{"0x0"}, {"0x7"}, {"0x0"}}}},
         100,
         7},
        {"no reward at all: 1 wei",
         {{"baseFeePerGas", {"0x64", "0x65"}}, {"reward", {{"0x0"}}}},
         100,
         1},
        {"no rewards member", {{"baseFeePerGas", {"0x64", "0x65"}}}, 100, 1},
        {"a base fee of 0", {{"baseFeePerGas", {"0x0", "0x0"}}}, {}, 1},
        {"no base fee", {{"oldestBlock", "0x1"}}, {}, 1},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        const auto history = decode_fee_history(row.history);
        REQUIRE(history);
        CHECK(history->base.has_value() == row.base.has_value());
        if (row.base) CHECK(small(*history->base) == *row.base);
        CHECK(small(history->priority_fee) == row.priority);
    }
    for (const char* hostile : {R"({"baseFeePerGas":["zz","zz"]})",
                                R"({"baseFeePerGas":["0x1","0x1"],"reward":[["-1"]]})",
                                R"({"baseFeePerGas":["0xffffffffffffffffffffffffffffffff","0x1"]})",
                                R"({"baseFeePerGas":[1,2]})"}) {
        CAPTURE(std::string(hostile));
        CHECK_FALSE(decode_fee_history(Json::parse(hostile)));
    }
}

TEST_CASE("a quote is twice the base fee and the priority fee, and lasts for a second") {
    support::VirtualClock clock;
    support::ScriptedNode node;
    chains::evm::Options options;
    node.on["eth_feeHistory"] = [](const Json& params) -> chains::jsonrpc::Answer {
        CHECK(params == Json::parse(R"(["0xa","latest",[20.0]])"));
        return Json{{"baseFeePerGas", {"0x64", "0x65"}}, {"reward", {{"0x3"}}}};
    };
    Fees fees{options, node, clock};
    const FeeQuote quote = quote_of(fees.current());
    CHECK_FALSE(quote.legacy);
    CHECK(small(quote.priority_fee) == 3);
    CHECK(small(quote.max_fee) == 203);
    clock.advance(1s);
    static_cast<void>(fees.current());
    CHECK(node.batches.size() == 1);
    clock.advance(1ms);
    static_cast<void>(fees.current());
    CHECK(node.batches.size() == 2);
    CHECK(node.count("eth_feeHistory") == 2);
}

TEST_CASE("the node's own tip is a floor, asked in the same exchange while it is served") {
    support::VirtualClock clock;
    support::ScriptedNode node;
    const chains::evm::Options options;
    node.say("eth_feeHistory", {Json{{"baseFeePerGas", {"0x64", "0x65"}}, {"reward", {{"0x3"}}}}});
    node.say(
        "eth_maxPriorityFeePerGas",
        {Json("0x7"), Json("0x2"), TransportError{TransportError::Kind::throttled, "HTTP 429", 7s},
         Json("zz"), NodeError{-32'601, "no such method", {}}});
    Fees fees{options, node, clock};
    for (const std::uint64_t tip : {7U, 3U, 3U, 3U, 3U}) {
        CAPTURE(tip);
        const FeeQuote quote = quote_of(fees.current());
        CHECK(small(quote.priority_fee) == tip);
        CHECK(small(quote.max_fee) == 200 + tip);
        clock.advance(2s);
    }
    CHECK(node.batches == std::vector<std::size_t>{2, 2, 2, 2, 2});
    static_cast<void>(fees.current());
    CHECK(node.batches.back() == 1);
    clock.advance(10min);
    static_cast<void>(fees.current());
    CHECK(node.batches.back() == 2);
}

TEST_CASE("without a cap a node can not name any tip it likes") {
    constexpr std::uint64_t gwei = 1'000'000'000;
    struct Row {
        std::uint64_t base, reward, floor, tip;
    };
    const Row rows[]{
        {gwei, 1, 10'000 * gwei, 500 * gwei},   {gwei, 10'000 * gwei, 1, 500 * gwei},
        {gwei, 1, 499 * gwei, 499 * gwei},      {80 * gwei, 1, 10'000 * gwei, 800 * gwei},
        {80 * gwei, 1, 700 * gwei, 700 * gwei},
    };
    for (const bool has_cap : {false, true}) {
        for (const Row& row : rows) {
            CAPTURE(row.base);
            CAPTURE(row.floor);
            support::VirtualClock clock;
            support::ScriptedNode node;
            chains::evm::Options options;
            if (has_cap) options.fees.max_fee_cap = chains::jsonrpc::Wei{100'000} * gwei;
            const auto hex = [](std::uint64_t wei) {
                return Json(chains::jsonrpc::hex_quantity(wei));
            };
            node.say("eth_feeHistory", {Json{{"baseFeePerGas", {hex(row.base), hex(row.base)}},
                                             {"reward", {{hex(row.reward)}}}}});
            node.say("eth_maxPriorityFeePerGas", {Json(hex(row.floor))});
            Fees fees{options, node, clock};
            const FeeQuote quote = quote_of(fees.current());
            CHECK(small(quote.priority_fee) ==
                  (has_cap ? std::max(row.reward, row.floor) : row.tip));
            CHECK(quote.max_fee == 2 * chains::jsonrpc::Wei{row.base} + quote.priority_fee);
        }
    }
}

TEST_CASE("without a base fee in the history the header counts, and without any it is legacy") {
    support::VirtualClock clock;
    support::ScriptedNode node;
    const chains::evm::Options options;
    node.say("eth_feeHistory", {NodeError{-32'601, "no such method", {}}});
    node.say("eth_getBlockByNumber", {Json{{"baseFeePerGas", "0x32"}}, Json{{"number", "0x1"}}});
    node.say("eth_gasPrice", {Json("0x4d2")});
    Fees with_header{options, node, clock};
    CHECK(small(quote_of(with_header.current()).max_fee) == 101);
    Fees legacy{options, node, clock};
    const FeeQuote quote = quote_of(legacy.current());
    CHECK(quote.legacy);
    CHECK(small(quote.max_fee) == 1'234);
    CHECK(small(quote.priority_fee) == 0);
}

TEST_CASE("trouble is no quote and is not remembered") {
    support::VirtualClock clock;
    support::ScriptedNode node;
    const chains::evm::Options options;
    node.say("eth_feeHistory", {TransportError{TransportError::Kind::throttled, "HTTP 429", 7s},
                                Json{{"baseFeePerGas", {"0x64", "0x65"}}}});
    Fees fees{options, node, clock};
    const FeeAnswer answer = fees.current();
    REQUIRE(std::holds_alternative<TransportError>(answer));
    CHECK(std::get<TransportError>(answer).wait == 7s);
    CHECK(small(quote_of(fees.current()).max_fee) == 201);
}

TEST_CASE("a bump raises both fields by more than ten percent, at least to what the chain asks") {
    struct Row {
        std::string_view label;
        FeeQuote old;
        FeeQuote market;
        std::uint64_t cap;
        std::uint64_t priority;  // 0 and 0: none
        std::uint64_t max;
        std::optional<FeeQuote> first{};
    };
    const Row rows[]{
        {"a step", {false, 1'000, 10'000}, {false, 1'000, 10'000}, 0, 1'125, 11'250},
        {"rounded up", {false, 1, 10}, {false, 1, 10}, 0, 2, 12},
        {"to the market", {false, 1'000, 10'000}, {false, 5'000, 50'000}, 0, 5'000, 50'000},
        {"never beyond ten times the market",
         {false, 1'000, 95'000},
         {false, 100, 10'000},
         0,
         0,
         0,
         FeeQuote{false, 100, 10'000}},
        {"nor what was offered first, when the market has fallen",
         {false, 1'000, 95'000},
         {false, 1, 100},
         0,
         0,
         0,
         FeeQuote{false, 100, 10'000}},
        {"a market that has fallen does not hold up the first raise",
         {false, 1'000, 10'000},
         {false, 1, 100},
         0,
         1'125,
         11'250},
        {"the last step is cut",
         {false, 1'000, 9'000},
         {false, 1'000, 9'000},
         10'000,
         1'125,
         10'000},
        {"no step left", {false, 1'000, 9'500}, {false, 1'000, 9'500}, 10'000, 0, 0},
        {"at the cap", {false, 1'000, 10'000}, {false, 1'000, 10'000}, 10'000, 0, 0},
        {"legacy", {true, 0, 1'000}, {true, 0, 1'000}, 0, 0, 1'125},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        chains::evm::Options::Fees options;
        options.max_fee_cap = row.cap;
        const auto quote = bumped(row.old, row.first.value_or(row.old), row.market, options);
        CHECK(quote.has_value() == (row.max != 0));
        if (!quote) continue;
        CHECK(small(quote->priority_fee) == row.priority);
        CHECK(small(quote->max_fee) == row.max);
        CHECK(quote->legacy == row.old.legacy);
    }
}

TEST_CASE("a transaction is old after a while, and at once when it was signed in the future") {
    const support::VirtualClock clock;
    const Options::Fees options;
    CHECK_FALSE(chains::evm::is_old(clock, clock.wall(), options));
    CHECK_FALSE(chains::evm::is_old(clock, clock.wall() - options.bump_after + 1ms, options));
    CHECK(chains::evm::is_old(clock, clock.wall() - options.bump_after, options));
    CHECK(chains::evm::is_old(clock, clock.wall() + 1h, options));
}

TEST_CASE("fees are lowered to what a node's cap leaves, not below the base fee") {
    struct Row {
        std::string_view label;
        FeeQuote old;
        FeeQuote market;
        std::optional<Wei> most;
        std::uint64_t priority;  // 0 and 0: none
        std::uint64_t max;
    };
    const Row rows[]{
        {"to the cap", {false, 10, 2'010}, {false, 10, 2'010}, 1'500, 10, 1'500},
        {"the tip does not exceed it", {false, 900, 2'900}, {false, 0, 1'000}, 700, 700, 700},
        {"not below the base fee", {false, 10, 2'010}, {false, 10, 2'010}, 999, 0, 0},
        {"no number: what the next block takes",
         {false, 10, 2'010},
         {false, 10, 2'010},
         {},
         10,
         1'010},
        {"a number that is no less", {false, 10, 2'010}, {false, 10, 2'010}, 2'010, 10, 1'010},
        {"it is no more already", {false, 10, 1'010}, {false, 10, 2'010}, {}, 0, 0},
        {"gas is cheaper by now", {false, 10, 9'010}, {false, 10, 2'010}, {}, 10, 1'010},
        {"legacy", {true, 0, 2'000}, {true, 0, 1'000}, 1'500, 0, 1'500},
        {"legacy, below its price", {true, 0, 2'000}, {true, 0, 1'800}, 1'500, 0, 0},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        const auto quote = lowered(row.old, row.market, row.most);
        REQUIRE(quote.has_value() == (row.max != 0));
        if (!quote) continue;
        CHECK(small(quote->priority_fee) == row.priority);
        CHECK(small(quote->max_fee) == row.max);
        CHECK(quote->legacy == row.old.legacy);
    }
}
