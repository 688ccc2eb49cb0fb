#include "chains/evm/thresholds.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "chains/evm/replies.hpp"
#include "chains/evm/scripted_node.hpp"
#include "support/requests.hpp"
#include "support/virtual_time.hpp"

namespace {

using namespace std::chrono_literals;
using chains::jsonrpc::Json;
using chains::jsonrpc::NodeError;
using chains::jsonrpc::TransportError;
using domain::Bytes;
using replies::number_reply;
using replies::word32;

const NodeError reverted{3, "execution reverted", {}};

chains::evm::Options with_protocol_config() {
    chains::evm::Options options;
    options.protocol_config.address = support::address(0xc0);
    return options;
}

struct ThresholdsHarness {
    void say(std::vector<chains::jsonrpc::Answer> answers) {
        node.on["eth_call"] = [this, answers = std::move(answers),
                               next = std::size_t{0}](const Json&) mutable {
            times.push_back(clock.monotonic() - start);
            return answers[std::min(next++, answers.size() - 1)];
        };
    }

    std::optional<std::uint32_t> find(std::uint64_t context) {
        return thresholds.find(word32(context));
    }

    // Asks, waits for the look-up, asks again.
    std::optional<std::uint32_t> learn(std::uint64_t context) {
        static_cast<void>(find(context));
        finish();
        return find(context);
    }

    void finish() { executor.run_all(); }

    chains::evm::Options options = with_protocol_config();
    support::VirtualClock clock;
    const domain::Monotonic start = clock.monotonic();
    support::VirtualExecutor executor{clock};
    support::RecordingLogger logger;
    support::ScriptedNode node;
    std::vector<domain::Nanoseconds> times;  // of the calls
    chains::evm::Thresholds thresholds{options, node, clock, executor, logger};
};

TEST_CASE("T-131: the contract says how many shares a context needs") {
    ThresholdsHarness world;
    world.say({number_reply(7)});
    CHECK(!world.find(42));
    CHECK(world.node.calls.empty());
    world.finish();
    CHECK(world.find(42) == 7);

    REQUIRE(world.node.calls.size() == 1);
    const Json& params = world.node.calls[0].params;
    CHECK(params.at(0).at("to") == "0x" + domain::to_hex(support::address(0xc0)));
    CHECK(params.at(0).at("input") == "0x281e8bfe" + domain::to_hex(word32(42)));
    CHECK(params.at(0).at("data") == params.at(0).at("input"));
    CHECK(params.at(0).size() == 3);
    CHECK(params.at(1) == "latest");
}

TEST_CASE("T-132: a known context is not asked for again") {
    ThresholdsHarness world;
    world.say({number_reply(7), reverted});
    CHECK(world.learn(42) == 7);
    CHECK(world.learn(42) == 7);
    CHECK(world.times.size() == 1);
    CHECK(world.logger.lines().empty());
}

TEST_CASE("T-133: a try that fails is followed by another after 200 ms") {
    const std::vector<std::pair<std::string, chains::jsonrpc::Answer>> rows{
        {"revert", reverted},
        {"node error", NodeError{-32000, "header not found", {}}},
        {"trouble", TransportError{TransportError::Kind::timed_out, "no answer in time", {}}},
        {"malformed", "0x"}};
    for (const auto& [label, answer] : rows) {
        CAPTURE(label);
        ThresholdsHarness world;
        world.say({answer, number_reply(7)});
        CHECK(world.learn(42) == 7);
        CHECK(world.times == std::vector<domain::Nanoseconds>{0ms, 200ms});
        CHECK(world.logger.lines().empty());
    }
}

TEST_CASE("T-134: when all tries fail nothing is known, and two seconds pass before the next") {
    ThresholdsHarness world;
    world.say({reverted, reverted, reverted, number_reply(7)});
    CHECK(!world.learn(42));
    CHECK(world.times == std::vector<domain::Nanoseconds>{0ms, 200ms, 400ms});

    world.clock.advance_to(world.start + 2'399ms);
    CHECK(!world.learn(42));
    CHECK(world.times.size() == 3);
    world.clock.advance_to(world.start + 2'400ms);
    CHECK(world.learn(42) == 7);
    CHECK(world.times.size() == 4);
}

TEST_CASE("an answer counts when it is a number from 1 to 2^32 - 1") {
    Bytes beyond_64_bits(32, 0);
    beyond_64_bits[0] = 1;
    beyond_64_bits[31] = 9;
    const std::vector<std::pair<Json, std::optional<std::uint32_t>>> rows{
        {number_reply(1), 1},
        {number_reply(0xffff'ffff), 0xffff'ffff},
        {number_reply(0), {}},
        {number_reply(0x1'0000'0000), {}},
        {replies::hex(beyond_64_bits), {}},
        {replies::hex(Bytes(31, 1)), {}},
        {"0x", {}},
        {"0xzz", {}},
        {7, {}},
        {nullptr, {}},
    };
    for (const auto& [reply, expected] : rows) {
        CAPTURE(reply.dump());
        ThresholdsHarness world;
        world.say({reply});
        CHECK(world.learn(42) == expected);
    }
}

TEST_CASE("look-ups of one context are one") {
    ThresholdsHarness world;
    world.say({reverted, number_reply(7)});
    for (int time = 0; time < 5; ++time) CHECK(!world.find(42));
    world.executor.run_due();
    CHECK(!world.find(42));
    world.finish();
    CHECK(world.times.size() == 2);
    CHECK(world.find(42) == 7);
}

TEST_CASE("an old value is served while the contract is asked again") {
    ThresholdsHarness world;
    world.say({number_reply(7), number_reply(5)});
    CHECK(world.learn(42) == 7);
    world.clock.advance(5min);
    CHECK(world.learn(42) == 7);
    CHECK(world.times.size() == 1);
    world.clock.advance(1ns);
    CHECK(world.find(42) == 7);
    CHECK(world.find(42) == 7);
    world.finish();
    CHECK(world.times.size() == 2);
    CHECK(world.find(42) == 5);
}

TEST_CASE("an old value stays while the contract can not be asked") {
    ThresholdsHarness world;
    world.say({number_reply(7), reverted});
    CHECK(world.learn(42) == 7);
    for (int time = 1; time <= 3; ++time) {
        world.clock.advance(6min);
        CHECK(world.learn(42) == 7);
        CHECK(world.times.size() == 1 + 3 * static_cast<std::size_t>(time));
    }
    CHECK(world.logger.count("threshold_not_found") == 1);
}

TEST_CASE("the wall clock makes no value old") {
    ThresholdsHarness world;
    world.say({number_reply(7)});
    CHECK(world.learn(42) == 7);
    world.clock.step_wall(std::chrono::hours{24});
    CHECK(world.learn(42) == 7);
    CHECK(world.times.size() == 1);
}

TEST_CASE("what is forgotten is looked up again") {
    ThresholdsHarness world;
    world.say({number_reply(7), number_reply(5)});
    CHECK(world.learn(42) == 7);
    world.thresholds.forget(word32(43));
    CHECK(world.find(42) == 7);
    world.thresholds.forget(word32(42));
    CHECK(!world.find(42));
    world.finish();
    CHECK(world.find(42) == 5);
    CHECK(world.times.size() == 2);
}

TEST_CASE("what was asked before it was forgotten does not count") {
    ThresholdsHarness world;
    world.node.on["eth_call"] = [&, calls = 0](const Json&) mutable -> chains::jsonrpc::Answer {
        if (++calls > 1) return number_reply(5);
        world.thresholds.forget(word32(42));
        return number_reply(7);
    };
    CHECK(!world.learn(42));
    world.finish();
    CHECK(world.find(42) == 5);
    CHECK(world.node.calls.size() == 2);
}

TEST_CASE("ten thousand contexts are kept, those last in use") {
    ThresholdsHarness world;
    world.say({number_reply(7)});
    for (std::uint64_t context = 1; context <= 10'000; ++context) {
        REQUIRE(world.learn(context) == 7);
    }
    CHECK(world.find(1) == 7);
    CHECK(world.learn(10'001) == 7);
    CHECK(world.times.size() == 10'001);

    CHECK(world.find(1) == 7);
    CHECK(world.find(3) == 7);
    CHECK(world.times.size() == 10'001);
    CHECK(!world.find(2));
    world.finish();
    CHECK(world.times.size() == 10'002);
}

TEST_CASE("a flood of contexts has few look-ups at once and spoils nothing") {
    ThresholdsHarness world;
    world.say({number_reply(7)});
    CHECK(world.learn(1) == 7);
    for (std::uint64_t context = 2; context <= 15'000; ++context) {
        CHECK(!world.find(context));
        if (context % 1'000 == 0) CHECK(world.find(1) == 7);
    }
    CHECK(world.executor.pending() == 16);
    world.finish();
    CHECK(world.times.size() == 17);
    CHECK(world.find(1) == 7);
    CHECK(world.learn(14'999) == 7);
}

TEST_CASE("a node that asks for time gets it") {
    ThresholdsHarness world;
    world.say({TransportError{TransportError::Kind::throttled, "429 Too Many Requests", 7s},
               number_reply(7)});
    CHECK(world.learn(42) == 7);
    CHECK(world.times == std::vector<domain::Nanoseconds>{0s, 7s});
}

TEST_CASE("a failure is told once until it changes, without the node's URL") {
    ThresholdsHarness world;
    const std::string leak = "cannot reach https://node.example/v3/hunter2";
    world.say({TransportError{TransportError::Kind::unsent, leak, {}}});
    for (int time = 0; time < 3; ++time) {
        CHECK(!world.learn(42));
        world.clock.advance(3s);
    }
    REQUIRE(world.logger.lines().size() == 1);
    const auto line = world.logger.lines()[0];
    CHECK(line.level == ports::LogLevel::warning);
    CHECK(line.text.starts_with("threshold_not_found context=0x" + domain::to_hex(word32(42)) +
                                " error=\"cannot reach"));
    CHECK(line.text.ends_with("\""));
    CHECK(line.text.find("hunter2") == std::string::npos);

    world.say({reverted, reverted, reverted, number_reply(7)});
    CHECK(!world.learn(42));
    CHECK(world.logger.count("threshold_not_found") == 2);
    world.clock.advance(3s);
    CHECK(world.learn(42) == 7);
    world.thresholds.forget(word32(42));
    world.say({reverted});
    CHECK(!world.learn(42));
    CHECK(world.logger.count("threshold_not_found") == 3);
}

TEST_CASE("nothing is asked once stopped") {
    for (const int steps : {0, 1, 2}) {
        CAPTURE(steps);
        ThresholdsHarness world;
        world.say({reverted});
        static_cast<void>(world.find(42));
        for (int step = 0; step < steps; ++step) world.executor.run_next();
        world.thresholds.stop();
        CHECK(!world.find(43));
        world.finish();
        CHECK(world.times.size() == static_cast<std::size_t>(steps));
    }
}

}  // namespace
