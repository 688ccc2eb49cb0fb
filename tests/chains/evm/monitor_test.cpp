#include "chains/evm/monitor.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <optional>
#include <string>

#include "chains/evm/scripted_node.hpp"
#include "chains/evm/scripted_signer.hpp"
#include "support/virtual_time.hpp"

using namespace std::chrono_literals;
using chains::evm::Monitor;
using chains::jsonrpc::Answer;
using chains::jsonrpc::Json;
using chains::jsonrpc::NodeError;
using chains::jsonrpc::TransportError;
using domain::Milliseconds;

namespace {

struct MonitorHarness {
    MonitorHarness() {
        options.chain_id = 31337;
        options.signer.low_balance = 500;
        signer.account.emplace().fill(0xab);
        node.on["eth_getBalance"] = [this](const Json&) -> Answer { return balance; };
        node.on["eth_getTransactionCount"] = [this](const Json&) -> Answer { return nonce; };
        node.on["eth_blockNumber"] = [](const Json&) -> Answer { return Json("0x2a"); };
        node.on["eth_chainId"] = [this](const Json&) -> Answer { return chain_id; };
    }

    void start() {
        monitor.emplace(options, std::vector<const chains::evm::Signer*>{&signer}, node, executor,
                        clock, logger);
        monitor->start();
        executor.run_due();
    }

    Answer balance = Json("0xde0b6b3a7640000");
    Answer nonce = Json("0x7");
    Answer chain_id = Json("0x7a69");
    chains::evm::Options options;
    support::VirtualClock clock;
    support::VirtualExecutor executor{clock};
    support::ScriptedSigner signer{executor, std::string(63, '0') + "1"};
    support::RecordingLogger logger;
    support::ScriptedNode node;
    std::optional<Monitor> monitor;
};

}  // namespace

TEST_CASE("while nobody knows the signer's address only the head and the chain are looked at") {
    MonitorHarness harness;
    harness.signer.account.reset();
    harness.start();
    CHECK(harness.node.batches == std::vector<std::size_t>{2});
    CHECK(harness.monitor->head() == 42);
    CHECK(harness.monitor->on_right_chain());
    CHECK_FALSE(harness.monitor->balance());
    CHECK_FALSE(harness.monitor->problem());
    harness.signer.account.emplace().fill(0xab);
    harness.executor.run_for(15s);
    CHECK(harness.monitor->nonce() == 7);
    CHECK(harness.monitor->balance_in_coins() == 1.0);
}

TEST_CASE("the account and the head are read in one exchange every 15 s") {
    MonitorHarness harness;
    harness.start();
    CHECK(harness.node.batches == std::vector<std::size_t>{4});
    CHECK(harness.monitor->balance() == chains::jsonrpc::Wei{1'000'000'000'000'000'000U});
    CHECK(harness.monitor->balance_in_coins() == 1.0);
    CHECK(harness.monitor->head() == 42);
    CHECK(harness.monitor->nonce() == 7);
    CHECK_FALSE(harness.monitor->problem());
    CHECK(harness.node.calls[0].params ==
          Json::array({"0xabababababababababababababababababababab", "latest"}));
    CHECK(harness.node.calls[1].params[1] == "latest");

    harness.executor.run_for(60s);
    CHECK(harness.node.batches == std::vector<std::size_t>{4, 3, 3, 3, 3});
    harness.executor.run_for(4min);
    CHECK(harness.node.count("eth_chainId") == 2);
}

TEST_CASE("before the first answer nothing is known") {
    MonitorHarness harness;
    harness.node.on["eth_getBalance"] = [](const Json&) -> Answer {
        return TransportError{TransportError::Kind::timed_out, "no answer in time", {}};
    };
    harness.start();
    CHECK_FALSE(harness.monitor->balance());
    CHECK_FALSE(harness.monitor->balance_in_coins());
    CHECK(harness.monitor->problem() == "no answer in time");
}

TEST_CASE("a low balance is said once, and once more after it had recovered") {
    struct Row {
        const char* label;
        Answer balance;
        std::size_t warnings;
        std::size_t recoveries;
    };
    const Row rows[] = {
        {"at the limit", Json("0x1f4"), 0, 0},
        {"below", Json("0x1f3"), 1, 0},
        {"still below", Json("0x1f2"), 1, 0},
        {"no answer", NodeError{-32000, "no", {}}, 1, 0},
        {"recovered", Json("0x1f4"), 1, 1},
        {"below again", Json("0x0"), 2, 1},
        {"malformed", Json("lots"), 2, 1},
        {"beyond 128 bits", Json("0x1" + std::string(32, '0')), 2, 1},
        {"well", Json("0xffff"), 2, 2},
    };
    MonitorHarness harness;
    harness.start();
    for (const Row& row : rows) {
        CAPTURE(row.label);
        harness.balance = row.balance;
        harness.executor.run_for(15s);
        CHECK(harness.logger.count("signer_balance_low") == row.warnings);
        CHECK(harness.logger.count("signer_balance_recovered") == row.recoveries);
    }
}

TEST_CASE("without a limit an empty account is no reason for a warning") {
    MonitorHarness harness;
    harness.options.signer.low_balance = 0;
    harness.balance = Json("0x0");
    harness.start();
    CHECK(harness.monitor->balance() == chains::jsonrpc::Wei{0});
    CHECK(harness.logger.lines().empty());
}

TEST_CASE("a nonce never falls: some answers come from nodes that lag") {
    MonitorHarness harness;
    harness.start();
    for (const char* said : {"0x9", "0x8", "0x9", "0x8"}) {
        harness.nonce = Json(said);
        harness.executor.run_for(15s);
        CHECK(harness.monitor->nonce() == 9);
    }
}

TEST_CASE("another chain is trouble until the node is on ours") {
    MonitorHarness harness;
    harness.chain_id = Json("0x1");
    harness.start();
    CHECK(harness.monitor->on_wrong_chain());
    CHECK_FALSE(harness.monitor->on_right_chain());
    CHECK(harness.monitor->problem() == "chain id is 1, the configuration says 31337");
    harness.executor.run_for(1min);
    CHECK(harness.logger.count("wrong_chain") == 1);
    harness.chain_id = Json("0x7a69");
    harness.executor.run_for(15s);
    CHECK_FALSE(harness.monitor->on_wrong_chain());
    CHECK(harness.monitor->on_right_chain());
    CHECK_FALSE(harness.monitor->problem());
    harness.chain_id = Json("0x2");
    harness.executor.run_for(5min);
    CHECK(harness.monitor->problem() == "chain id is 2, the configuration says 31337");
}

TEST_CASE("trouble is what the last look met, in one line of the log") {
    struct Row {
        const char* label;
        Answer nonce;
        const char* problem;
    };
    const Row rows[] = {
        {"refused", NodeError{-32000, "busy", {}}, "the node refuses: busy (-32000)"},
        {"lost", TransportError{TransportError::Kind::lost, "connection lost", {}},
         "connection lost"},
        {"number", Json(7), "malformed nonce"},
        {"null", Json(nullptr), "malformed nonce"},
        {"too large", Json("0x10000000000000000"), "malformed nonce"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        MonitorHarness harness;
        harness.start();
        harness.nonce = row.nonce;
        harness.executor.run_for(45s);
        CHECK(harness.monitor->problem() == row.problem);
        CHECK(harness.monitor->nonce() == 7);
        CHECK(harness.logger.count("write_node_trouble") == 1);
        harness.nonce = Json("0x8");
        harness.executor.run_for(15s);
        CHECK_FALSE(harness.monitor->problem());
        CHECK(harness.logger.count("write_node_recovered") == 1);
    }
}

TEST_CASE("the end of trouble is noticed within 5 s") {
    MonitorHarness harness;
    harness.start();
    harness.nonce = TransportError{TransportError::Kind::unsent, "connection refused", {}};
    harness.executor.run_for(15s);
    CHECK(harness.monitor->problem() == "connection refused");
    harness.nonce = Json("0x8");
    harness.executor.run_for(5s);
    CHECK_FALSE(harness.monitor->problem());
    CHECK(harness.node.batches.size() == 3);
    harness.executor.run_for(14s);
    CHECK(harness.node.batches.size() == 3);
}

TEST_CASE("a node that said wait is not asked earlier") {
    MonitorHarness harness;
    harness.start();
    harness.nonce =
        TransportError{TransportError::Kind::throttled, "HTTP 429", Milliseconds{120'000}};
    harness.executor.run_for(15s);
    const std::size_t looks = harness.node.batches.size();
    harness.executor.run_for(119s);
    CHECK(harness.node.batches.size() == looks);
    harness.executor.run_for(1s);
    CHECK(harness.node.batches.size() == looks + 1);
}

TEST_CASE("field 100: what is odd about replies is said once in the log, and taken") {
    MonitorHarness harness;
    harness.start();
    CHECK(harness.logger.count("node_replies_oddly") == 0);
    harness.node.said_remark = "replies carry the id as text";
    harness.executor.run_for(1h);
    CHECK(harness.logger.count("node_replies_oddly") == 1);
    CHECK_FALSE(harness.monitor->problem());
}

TEST_CASE("a stopped monitor asks nothing more") {
    MonitorHarness harness;
    harness.start();
    harness.monitor->stop();
    harness.executor.run_for(1h);
    CHECK(harness.node.batches.size() == 1);

    MonitorHarness other;
    other.start();
    other.nonce = TransportError{TransportError::Kind::stopped, "stopped", {}};
    other.executor.run_for(1h);
    CHECK(other.node.batches.size() == 2);
    CHECK(other.executor.pending() == 0);
}
