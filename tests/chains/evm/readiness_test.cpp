#include "chains/evm/readiness.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "chains/evm/readiness_world.hpp"
#include "support/requests.hpp"

// The gateway chain's part of a readiness check (evm-gateway 7.3), and what both have in common.

namespace {

using namespace readiness_world;
using namespace std::chrono_literals;
using chains::jsonrpc::Json;
using chains::jsonrpc::NodeError;
using chains::jsonrpc::TransportError;
using domain::Bytes;
using domain::Reason;

const std::string contract_call = "Processing Failed: Contract call failed: ";

TEST_CASE("a node that is busy, gave up waiting or lacks the block has not refused") {
    for (const NodeError& passing :
         {NodeError{-32000, "txpool is full", {}}, NodeError{-32000, "request timed out", {}},
          NodeError{-32000, "header not found", {}},
          NodeError{-32000, "transaction indexing is in progress", {}},
          NodeError{-32005, "rate limit exceeded, retry in 7 s", {}}}) {
        CAPTURE(passing.message);
        ReadinessHarness gateway;
        gateway.read.say("eth_call", {passing});
        const engine::CheckOutcome asked = gateway.outcome(support::user_decrypt(1));
        REQUIRE(is<engine::Unreachable>(asked));
        CHECK(std::get<engine::Unreachable>(asked).tries_max == 0);
        ReadinessHarness host;
        host.host().say("eth_call", {passing});
        const engine::CheckOutcome checked = host.outcome(support::user_decrypt(1));
        REQUIRE(is<engine::Unreachable>(checked));
        CHECK(std::get<engine::Unreachable>(checked).tries_max == 0);
        CHECK(host.host().calls.size() == 1);
    }
}

TEST_CASE("one question to the gateway chain has one of these outcomes") {
    const Bytes paused{0xd9, 0x3c, 0x06, 0x65};
    struct Row {
        std::string label;
        chains::jsonrpc::Answer answer;
        std::optional<Reason> verdict;
        std::optional<std::uint32_t> selector;
    };
    const std::vector<Row> rows{
        {"false", replies::number_reply(0), {}, {}},
        {"paused", NodeError{3, "execution reverted", paused}, Reason::reverted, 0xd93c0665},
        {"paused, in the text", NodeError{-32000, "execution reverted: 0xd93c0665", {}},
         Reason::reverted, 0xd93c0665},
        {"revert without data", NodeError{3, "execution reverted", {}}, Reason::reverted, {}},
        {"no revert",
         NodeError{-32000, "out of gas 0xd93c0665aa", {}},
         Reason::readiness_failed,
         {}},
        {"no contract", "0x", Reason::readiness_failed, {}},
        {"short", replies::hex(Bytes(31, 1)), Reason::readiness_failed, {}},
        {"no string", Json::array(), Reason::readiness_failed, {}},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        ReadinessHarness world;
        world.read.say("eth_call", {row.answer});
        const engine::CheckOutcome said = world.outcome(support::user_decrypt(1));
        REQUIRE(is<engine::NotReady>(said));
        const auto& verdict = std::get<engine::NotReady>(said).verdict;
        REQUIRE(verdict.has_value() == row.verdict.has_value());
        CHECK(world.read.calls.size() == 1);
        if (!verdict) continue;
        CHECK(verdict->reason == *row.verdict);
        CHECK(verdict->selector == row.selector);
        CHECK(verdict->text.starts_with(contract_call));
        CHECK(verdict->text.size() > contract_call.size());
    }
}

TEST_CASE("no answer of the gateway chain is trouble, and its wait is passed on") {
    ReadinessHarness world;
    world.read.say("eth_call",
                   {TransportError{TransportError::Kind::throttled, "429 Too Many Requests", 7s}});
    const engine::CheckOutcome said = world.outcome(support::user_decrypt(1));
    REQUIRE(is<engine::Unreachable>(said));
    const auto& unreachable = std::get<engine::Unreachable>(said);
    CHECK(unreachable.reason == "429 Too Many Requests");
    CHECK(unreachable.hold == 7s);
    REQUIRE(unreachable.verdict);
    CHECK(unreachable.verdict->reason == Reason::readiness_failed);
    CHECK(unreachable.verdict->text == contract_call + "429 Too Many Requests");
}

TEST_CASE("no secret of a node's URL gets into an outcome or the journal") {
    const std::string leak =
        "cannot reach https://user:hunter2@node.example/v3/hunter2?key=hunter2";
    const std::vector<chains::jsonrpc::Answer> answers{
        NodeError{-32000, leak, {}}, NodeError{3, "execution reverted: " + leak, {}},
        TransportError{TransportError::Kind::unsent, leak, {}}};
    const auto texts_of = [](const engine::CheckOutcome& said) {
        if (const auto* rejected = std::get_if<engine::Rejected>(&said)) {
            return rejected->failure.text;
        }
        if (const auto* not_ready = std::get_if<engine::NotReady>(&said)) {
            return not_ready->verdict.value().text;
        }
        const auto& unreachable = std::get<engine::Unreachable>(said);
        return unreachable.reason + unreachable.verdict.value().text;
    };
    for (const auto& answer : answers) {
        CAPTURE(answer.index());
        for (const bool at_host : {true, false}) {
            CAPTURE(at_host);
            ReadinessHarness world;
            (at_host ? world.host() : world.read).say("eth_call", {answer});
            const std::string texts = texts_of(world.outcome(support::user_decrypt(1)));
            CHECK(texts.find("cannot reach") != std::string::npos);
            CHECK(texts.find("hunter2") == std::string::npos);
            CHECK(world.logger.count("hunter2") == 0);
        }
    }
}

}  // namespace
