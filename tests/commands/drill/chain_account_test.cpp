#include "commands/drill/chain_account.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "chains/evm/scripted_node.hpp"
#include "chains/jsonrpc/decode.hpp"

using namespace commands::drill;
using chains::jsonrpc::hex;
using chains::jsonrpc::hex_quantity;
using chains::jsonrpc::Json;

namespace {

constexpr domain::Address account_address{0xaa};
constexpr domain::Address other_address{0xbb};

Json transaction(const domain::Address& from, std::uint64_t nonce) {
    domain::Bytes32 hash{};
    hash[0] = from[0];
    hash[31] = static_cast<std::uint8_t>(nonce);
    return {{"from", hex(from)},        {"hash", hex(hash)}, {"nonce", hex_quantity(nonce)},
            {"to", hex(other_address)}, {"input", "0x0102"}, {"gasPrice", "0x7"}};
}

Json receipt(const char* status, const char* price) {
    Json json{{"status", status}, {"gasUsed", "0x5208"}};
    if (price != nullptr) json["effectiveGasPrice"] = price;
    return json;
}

// Each block has a transaction of the account and one of somebody else.
support::ScriptedNode node_with_blocks() {
    support::ScriptedNode node;
    node.on["eth_getBlockByNumber"] = [](const Json& params) {
        const std::uint64_t number = *chains::jsonrpc::quantity(params.at(0));
        CHECK(params.at(1) == true);
        return Json{{"transactions",
                     {transaction(other_address, 3), transaction(account_address, number)}}};
    };
    node.say("eth_getTransactionReceipt", {receipt("0x1", "0x3")});
    return node;
}

const Wait at_once = [](std::chrono::milliseconds) {};

}  // namespace

TEST_CASE("the transactions of an account are found in all blocks, and nobody else's") {
    support::ScriptedNode node = node_with_blocks();
    ChainAccount account(node, account_address, at_once);
    const auto found = account.transactions(5, 27);
    REQUIRE(found.size() == 23);
    for (std::size_t i = 0; i < found.size(); ++i) {
        CHECK(found[i].nonce == 5 + i);
        CHECK(found[i].to == other_address);
        CHECK(found[i].data == domain::Bytes{1, 2});
        CHECK(found[i].succeeded);
        CHECK(found[i].gas_used == 21'000);
        CHECK(found[i].gas_price == 3);
    }
    CHECK(node.count("eth_getBlockByNumber") == 23);
    CHECK(account.transactions(6, 5).empty());
}

TEST_CASE("what a receipt says counts, and the offered price only where it says none") {
    support::ScriptedNode node = node_with_blocks();
    node.say("eth_getTransactionReceipt", {receipt("0x0", nullptr)});
    ChainAccount account(node, account_address, at_once);
    const auto found = account.transactions(9, 9);
    REQUIRE(found.size() == 1);
    CHECK_FALSE(found[0].succeeded);
    CHECK(found[0].gas_price == 7);
}

TEST_CASE("a block or receipt that the node has not yet is asked for again") {
    support::ScriptedNode node = node_with_blocks();
    node.say("eth_getTransactionReceipt",
             {Json(), chains::jsonrpc::TransportError{}, receipt("0x1", "0x3")});
    ChainAccount account(node, account_address, at_once);
    CHECK(account.transactions(9, 9).size() == 1);
    node.say("eth_getBlockByNumber", {Json()});
    CHECK_THROWS_AS(static_cast<void>(account.transactions(9, 9)), std::runtime_error);
}

TEST_CASE("answers that make no sense end it instead of counting for nothing") {
    const Json good = transaction(account_address, 1);
    for (const char* const name : {"from", "hash", "nonce", "input"}) {
        CAPTURE(name);
        support::ScriptedNode node = node_with_blocks();
        Json bad = good;
        bad[name] = "odd";
        node.say("eth_getBlockByNumber", {Json{{"transactions", {bad}}}});
        ChainAccount account(node, account_address, at_once);
        CHECK_THROWS_AS(static_cast<void>(account.transactions(1, 1)), std::runtime_error);
    }
    for (const Json& bad : {Json(5), Json{{"transactions", "none"}}, Json::object()}) {
        support::ScriptedNode node = node_with_blocks();
        node.say("eth_getBlockByNumber", {bad});
        ChainAccount account(node, account_address, at_once);
        CHECK_THROWS_AS(static_cast<void>(account.transactions(1, 1)), std::runtime_error);
    }
    for (const char* const name : {"status", "gasUsed"}) {
        support::ScriptedNode node = node_with_blocks();
        Json bad = receipt("0x1", "0x3");
        bad.erase(name);
        node.say("eth_getTransactionReceipt", {bad});
        ChainAccount account(node, account_address, at_once);
        CHECK_THROWS_AS(static_cast<void>(account.transactions(1, 1)), std::runtime_error);
    }
}
