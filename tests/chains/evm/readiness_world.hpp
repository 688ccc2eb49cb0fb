#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "chains/evm/calls.hpp"
#include "chains/evm/readiness.hpp"
#include "chains/evm/replies.hpp"
#include "chains/evm/scripted_node.hpp"
#include "support/is.hpp"
#include "support/recording_events.hpp"
#include "support/requests.hpp"
#include "support/virtual_time.hpp"

// Readiness checks in virtual time, with two host chains that allow everything and a gateway chain
// where everything is ready.
namespace readiness_world {

using chains::jsonrpc::Json;
using domain::Bytes;
using support::address;

inline constexpr std::uint64_t first_chain = support::host_chain;
inline constexpr std::uint64_t second_chain = 8010;

inline bool contains(const Bytes& bytes, const auto& part) {
    return std::search(bytes.begin(), bytes.end(), part.begin(), part.end()) != bytes.end();
}

inline std::string selector(const Bytes& call) {
    return domain::to_hex(domain::ByteView(call).first(4));
}

inline std::vector<Bytes> inner_calls(const Json& params) {
    const Bytes input = replies::input_of(params);
    return chains::evm::decode_bytes_array(domain::ByteView(input).subspan(4)).value();
}

inline bool is_multicall(const Json& params) {
    return selector(replies::input_of(params)) == "ac9650d8";
}

// What a contract says that does not know the function.
inline chains::jsonrpc::NodeError missing_function() {
    return {3, "execution reverted", Bytes{}};
}

// An access list that refuses what is asked about these handles, and knows of no invalidated
// signatures.
inline support::ScriptedNode::Script access_list(std::vector<domain::Bytes32> refused = {}) {
    return [refused = std::move(refused)](const Json& params) -> chains::jsonrpc::Answer {
        if (!is_multicall(params)) return missing_function();
        std::vector<Bytes> items;
        for (const Bytes& call : inner_calls(params)) {
            const bool no = std::ranges::any_of(
                refused, [&](const domain::Bytes32& one) { return contains(call, one); });
            items.push_back(replies::word(no ? 0 : 1));
        }
        return replies::bytes_array(items);
    };
}

struct ReadinessHarness {
    ReadinessHarness() {
        options.decryption = address(0xd0);
        add_host(first_chain, address(0xa1));
        add_host(second_chain, address(0xa2));
        read.say("eth_call", {replies::number_reply(1)});
    }

    void add_host(std::uint64_t chain, const domain::Address& acl) {
        options.host_chains.push_back({chain, {"http://127.0.0.1:1"}, acl});
        auto node = std::make_unique<support::ScriptedNode>();
        node->on["eth_call"] = access_list();
        host_nodes[chain] = node.get();
        hosts[chain] = std::move(node);
    }

    support::ScriptedNode& host(std::uint64_t chain = first_chain) { return *host_nodes.at(chain); }

    void check(std::int64_t number, const domain::Request& request) {
        subject().check({{support::request_id(number), std::make_shared<domain::Request>(request)}},
                        events);
    }

    engine::CheckOutcome outcome(const domain::Request& request) {
        check(1, request);
        finish();
        REQUIRE(events.checks.size() == 1);
        return std::exchange(events.checks, {}).front().outcome;
    }

    domain::Failure rejection(const domain::Request& request) {
        const engine::CheckOutcome said = outcome(request);
        REQUIRE(is<engine::Rejected>(said));
        return std::get<engine::Rejected>(said).failure;
    }

    void finish() { executor.run_all(); }

    chains::evm::Readiness& subject() {
        if (!readiness) readiness.emplace(options, read, hosts, executor, logger);
        return *readiness;
    }

    chains::evm::Options options;
    support::VirtualClock clock;
    support::VirtualExecutor executor{clock};
    support::RecordingLogger logger;
    support::RecordingEvents events;
    support::ScriptedNode read;
    chains::evm::Readiness::Hosts hosts;
    std::map<std::uint64_t, support::ScriptedNode*> host_nodes;
    std::optional<chains::evm::Readiness> readiness;
};

inline domain::PublicDecrypt public_of(std::vector<domain::Bytes32> handles) {
    return {std::move(handles), {0x00}};
}

inline domain::UnifiedUserDecrypt owned_by_user(std::uint64_t number) {
    domain::UnifiedUserDecrypt request = support::unified_user_decrypt(number);
    request.handles[0].owner_address = request.user_address;
    return request;
}

}  // namespace readiness_world
