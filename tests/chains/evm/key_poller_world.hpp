#pragma once

#include <doctest/doctest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "chains/evm/key_poller.hpp"
#include "chains/evm/replies.hpp"
#include "chains/evm/scripted_node.hpp"
#include "engine/key_urls.hpp"
#include "support/requests.hpp"
#include "support/virtual_time.hpp"

// The key poller in virtual time, with contracts that say what they should.
namespace key_poller_world {

using chains::jsonrpc::Answer;
using chains::jsonrpc::Json;
using domain::Bytes;
using replies::number;
using replies::tail;
using replies::text;
using replies::word;
using replies::word32;
using replies::operator+;

inline const std::string generation = "0x" + domain::to_hex(support::address(0x9e));
inline const std::string protocol = "0x" + domain::to_hex(support::address(0xc0));
inline const std::string new_kms_context =
    "0x204d6b80121154cd87d99cf54c639a3dd0a53b3084277098de972ebdd34c6be9";

inline replies::Part kms_node(const std::string& url, const std::string& prefix) {
    return {replies::tuple({number(0xaa), number(0xbb), text("10.0.0.1"), text(url), number(1),
                            text("party"), tail(Bytes(40, 0xca)), text(prefix)}),
            true};
}

inline Bytes event_data(const std::string& url, const std::string& prefix) {
    return replies::tuple(
        {replies::array({kms_node(url, prefix), kms_node("https://second.example", "OTHER")}),
         number(1), number(2), number(3), number(4), text("0.14.0"), replies::array({})});
}

// The two contracts and the block that announced the context.
struct Contracts {
    std::uint64_t key = 3;
    std::uint64_t crs = 4;
    std::uint64_t context = 5;
    std::uint64_t epoch = 6;
    std::uint64_t anchor = 900;
    std::string url = "https://kms.example.org/store/";
    std::string prefix = "PUB";

    [[nodiscard]] Json log() const {
        return {{"address", protocol},
                {"topics", {new_kms_context, replies::hex(word(context)), replies::hex(word(1))}},
                {"data", replies::hex(event_data(url, prefix))},
                {"blockNumber", "0x384"},
                {"blockHash", replies::hex(Bytes(32, 0xb1))},
                {"transactionHash", replies::hex(Bytes(32, 0x72))},
                {"transactionIndex", "0x0"},
                {"logIndex", "0x0"},
                {"removed", false}};
    }

    [[nodiscard]] engine::KeyMaterial material() const {
        return engine::stored_at(url, prefix, word32(key), word32(crs));
    }
};

struct PollerHarness {
    PollerHarness() {
        options.key_urls.kms_generation = support::address(0x9e);
        options.protocol_config.address = support::address(0xc0);
        node.on["eth_call"] = [this](const Json& params) { return view(params); };
        node.on["eth_getLogs"] = [this](const Json&) -> Answer {
            const auto instead = say.find("eth_getLogs");
            return instead == say.end() ? Answer{Json::array({contracts.log()})} : instead->second;
        };
    }

    Answer view(const Json& params) {
        const std::string selector = params.at(0).at("input").get<std::string>().substr(2, 8);
        const std::string to = params.at(0).at("to");
        REQUIRE(params.at(1) == "finalized");
        REQUIRE(params.at(0).size() == 3);
        REQUIRE(params.at(0).at("data") == params.at(0).at("input"));
        if (const auto instead = say.find(selector); instead != say.end()) return instead->second;
        const auto argument = [&] {
            return domain::from_hex(params.at(0).at("input").get<std::string>().substr(10)).value();
        };
        if (selector == "65b394af") {
            CHECK(to == protocol);
            return replies::hex(word(contracts.context) + word(contracts.epoch));
        }
        if (selector == "c999a8b4") {
            CHECK(to == protocol);
            CHECK(argument() == word(contracts.context));
            return replies::hex(word(contracts.anchor) + Bytes(32, 0xab));
        }
        CHECK(to == generation);
        if (selector == "d52f10eb") return replies::number_reply(contracts.key);
        if (selector == "baff211e") return replies::number_reply(contracts.crs);
        if (selector == "936608ae") {
            CHECK(argument() == word(contracts.key));
            const replies::Part digest{replies::tuple({number(0), tail(Bytes(32, 0xd1))}), true};
            return replies::hex(replies::tuple(
                {replies::array({text("https://a.example")}), replies::array({digest, digest})}));
        }
        CHECK(selector == "c55b8724");
        CHECK(argument() == word(contracts.crs));
        return replies::hex(
            replies::tuple({replies::array({text("https://a.example")}), tail(Bytes(32, 0xd2))}));
    }

    chains::evm::KeyPoller& start() {
        poller.emplace(options, node, executor, logger);
        poller->start();
        return *poller;
    }

    // Exchanges since the last time.
    std::size_t exchanges() {
        const std::size_t before = std::exchange(counted, node.batches.size());
        return counted - before;
    }

    chains::evm::Options options;
    support::VirtualClock clock;
    support::VirtualExecutor executor{clock};
    support::RecordingLogger logger;
    support::ScriptedNode node;
    Contracts contracts;
    std::map<std::string, Answer> say;  // instead, by selector; `eth_getLogs` for logs
    std::size_t counted = 0;
    std::optional<chains::evm::KeyPoller> poller;
};

}  // namespace key_poller_world
