#include "chains/evm/contract_wallets.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "chains/evm/replies.hpp"
#include "chains/evm/scripted_node.hpp"
#include "support/is.hpp"
#include "support/requests.hpp"

namespace {

using namespace std::chrono_literals;
using chains::jsonrpc::Json;
using chains::jsonrpc::NodeError;
using chains::jsonrpc::TransportError;
using domain::Bytes;
using replies::operator+;

const Bytes magic{0x16, 0x26, 0xba, 0x7e};

struct WalletHarness {
    explicit WalletHarness(chains::evm::Options set = {}) : options(std::move(set)) {
        auto owned = std::make_unique<support::ScriptedNode>();
        node = owned.get();
        hosts[support::host_chain] = std::move(owned);
    }

    engine::SignatureAnswer ask_at(std::uint64_t chain) {
        return wallets.ask(chain, support::address(0xbb), replies::word32(77), Bytes(65, 0x11));
    }

    engine::SignatureAnswer ask(std::vector<chains::jsonrpc::Answer> answers) {
        node->say("eth_call", std::move(answers));
        return ask_at(support::host_chain);
    }

    chains::evm::Options options;
    chains::evm::ContractWallets::Hosts hosts;
    support::ScriptedNode* node = nullptr;
    std::vector<domain::Milliseconds> pauses;
    chains::evm::ContractWallets wallets{
        options, hosts, [this](domain::Milliseconds time) { pauses.push_back(time); }};
};

TEST_CASE("the account is asked at the pending block with limited gas") {
    WalletHarness world;
    CHECK(is<engine::SignatureValid>(world.ask({replies::hex(magic + Bytes(28, 0))})));
    REQUIRE(world.node->calls.size() == 1);
    CHECK(world.node->calls[0].method == "eth_call");
    const Json& params = world.node->calls[0].params;
    CHECK(params.size() == 2);
    CHECK(params.at(0).size() == 4);
    CHECK(params.at(0).at("data") == params.at(0).at("input"));
    CHECK(params.at(0).at("to") == "0x" + domain::to_hex(support::address(0xbb)));
    CHECK(params.at(0).at("gas") == "0x186a0");
    CHECK(params.at(1) == "pending");
    const Bytes signature(65, 0x11);
    CHECK(replies::input_of(params) ==
          magic + replies::word(77) + replies::word(64) + replies::tail(signature).bytes);
}

TEST_CASE("an empty signature is asked about too") {
    WalletHarness world;
    world.node->say("eth_call", {replies::hex(magic + Bytes(28, 0))});
    CHECK(is<engine::SignatureValid>(
        world.wallets.ask(support::host_chain, support::address(0xbb), {}, {})));
    CHECK(replies::input_of(world.node->calls[0].params).size() == 4 + 3 * 32);
}

TEST_CASE("one answer of the account decides") {
    struct Row {
        std::string label;
        chains::jsonrpc::Answer answer;
        bool valid;
    };
    const std::vector<Row> rows{
        {"magic", replies::hex(magic + Bytes(28, 0)), true},
        {"magic and dirt", replies::hex(magic + Bytes(28, 0xee)), true},
        {"magic and more", replies::hex(magic + Bytes(92, 0)), true},
        {"no code", "0x", false},
        {"the magic alone", replies::hex(magic), false},
        {"31 bytes", replies::hex(magic + Bytes(27, 0)), false},
        {"other magic", replies::hex(Bytes(32, 0xff)), false},
        {"magic at the end", replies::hex(Bytes(28, 0) + magic), false},
        {"zeros", replies::hex(Bytes(32, 0)), false},
        {"revert with data", NodeError{3, "execution reverted", Bytes{1, 2, 3, 4}}, false},
        {"revert with data, other code",
         NodeError{-32000, "VM Exception: revert", Bytes{1, 2, 3, 4}}, false},
        {"revert without data", NodeError{-32000, "execution reverted", {}}, false},
        {"revert by its code", NodeError{3, "", {}}, false},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        WalletHarness world;
        const engine::SignatureAnswer said = world.ask({row.answer});
        CHECK(is<engine::SignatureValid>(said) == row.valid);
        CHECK(is<engine::SignatureInvalid>(said) == !row.valid);
        CHECK(world.node->calls.size() == 1);
        CHECK(world.pauses.empty());
    }
}

TEST_CASE("any other error and no answer are asked about three times, a second apart") {
    const std::vector<std::pair<std::string, chains::jsonrpc::Answer>> rows{
        {"unknown block", NodeError{-32000, "unknown block", {}}},
        {"out of gas", NodeError{-32000, "out of gas", {}}},
        {"connection refused",
         TransportError{TransportError::Kind::unsent, "connection refused", {}}},
        {"no answer in time",
         TransportError{TransportError::Kind::timed_out, "no answer in time", {}}},
        {"malformed answer", 7},
        {"malformed answer", nullptr},
        {"malformed answer", "0x162"},
    };
    for (const auto& [text, answer] : rows) {
        CAPTURE(text);
        {
            WalletHarness world;
            const engine::SignatureAnswer said = world.ask({answer});
            REQUIRE(is<engine::Unreachable>(said));
            CHECK(std::get<engine::Unreachable>(said).reason == "host chain 8009: " + text);
            CHECK(world.node->calls.size() == 3);
            CHECK(world.pauses == std::vector<domain::Milliseconds>{1s, 1s});
        }
        WalletHarness world;
        CHECK(is<engine::SignatureValid>(
            world.ask({answer, answer, replies::hex(magic + Bytes(28, 0))})));
        CHECK(world.pauses.size() == 2);
    }
}

TEST_CASE("where the pending block is not served the latest one is asked, in the same try") {
    for (const char* words :
         {"pending state is not available", "pending block is not available",
          "no available upstreams to process a request: No label flashblocks"}) {
        CAPTURE(words);
        WalletHarness world;
        CHECK(is<engine::SignatureValid>(
            world.ask({NodeError{-32000, words, {}}, replies::hex(magic + Bytes(28, 0))})));
        REQUIRE(world.node->calls.size() == 2);
        CHECK(world.node->calls[0].params.at(1) == "pending");
        CHECK(world.node->calls[1].params.at(1) == "latest");
        CHECK(world.pauses.empty());
    }
}

TEST_CASE("a single try is a try") {
    chains::evm::Options options;
    options.acl_retry.attempts_max = 1;
    WalletHarness world{options};
    CHECK(is<engine::Unreachable>(world.ask({NodeError{-32000, "unknown block", {}}})));
    CHECK(world.node->calls.size() == 1);
    CHECK(world.pauses.empty());
}

TEST_CASE("a node that asks for a little time gets it, for more nobody waits") {
    const auto throttled = [](domain::Milliseconds wait) {
        return TransportError{TransportError::Kind::throttled, "429 Too Many Requests", wait};
    };
    {
        WalletHarness world;
        CHECK(is<engine::SignatureInvalid>(world.ask({throttled(3s), throttled(100ms), "0x"})));
        CHECK(world.pauses == std::vector<domain::Milliseconds>{3s, 1s});
    }
    WalletHarness world;
    const engine::SignatureAnswer said = world.ask({throttled(7s), "0x"});
    REQUIRE(is<engine::Unreachable>(said));
    CHECK(std::get<engine::Unreachable>(said).hold == 7s);
    CHECK(world.node->calls.size() == 1);
    CHECK(world.pauses.empty());
}

TEST_CASE("an unknown host chain says nothing about a signature") {
    WalletHarness world;
    const engine::SignatureAnswer said = world.ask_at(77);
    REQUIRE(is<engine::Unreachable>(said));
    CHECK(std::get<engine::Unreachable>(said).reason == "host chain 77: no node is configured");
    CHECK(world.node->calls.empty());
}

TEST_CASE("no secret of a node's URL gets into a reason") {
    const std::string leak = "cannot reach https://node.example/v3/hunter2";
    for (const chains::jsonrpc::Answer& answer : std::vector<chains::jsonrpc::Answer>{
             NodeError{-32000, leak, {}}, TransportError{TransportError::Kind::unsent, leak, {}}}) {
        WalletHarness world;
        const engine::SignatureAnswer said = world.ask({answer});
        REQUIRE(is<engine::Unreachable>(said));
        const std::string& reason = std::get<engine::Unreachable>(said).reason;
        CHECK(reason.find("cannot reach") != std::string::npos);
        CHECK(reason.find("hunter2") == std::string::npos);
    }
}

TEST_CASE("a stopped node is asked once") {
    WalletHarness world;
    CHECK(is<engine::Unreachable>(
        world.ask({TransportError{TransportError::Kind::stopped, "stopped", {}}})));
    CHECK(world.node->calls.size() == 1);
    CHECK(world.pauses.empty());
}

TEST_CASE("stop ends a pause of the caller's thread") {
    WalletHarness world;
    world.options.acl_retry.pause = std::chrono::hours{1};
    world.node->say("eth_call", {NodeError{-32000, "unknown block", {}}});
    chains::evm::ContractWallets wallets{world.options, world.hosts};
    engine::SignatureAnswer said;
    std::jthread caller{
        [&] { said = wallets.ask(support::host_chain, support::address(0xbb), {}, {}); }};
    wallets.stop();
    caller.join();
    CHECK(is<engine::Unreachable>(said));
    CHECK(world.node->calls.size() == 1);
}

}  // namespace
