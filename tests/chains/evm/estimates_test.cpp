#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "chains/evm/named_errors.hpp"
#include "chains/evm/relay.hpp"
#include "chains/evm/revert.hpp"

using chains::jsonrpc::Answer;
using chains::jsonrpc::Call;
using chains::jsonrpc::Json;
using chains::jsonrpc::NodeError;
using domain::Status;
using support::Relay;
using namespace std::chrono_literals;

namespace {

NodeError node_error(std::int64_t code, const char* message) {
    return {code, message, {}};
}

domain::Bytes bytes4(std::uint32_t selector) {
    domain::Bytes bytes;
    for (int shift = 24; shift >= 0; shift -= 8) {
        bytes.push_back(static_cast<std::uint8_t>(selector >> static_cast<unsigned>(shift)));
    }
    return bytes;
}

}  // namespace

TEST_CASE("what the contract will never take ends at the first estimate, with the error's name") {
    for (const chains::evm::NamedError& named : chains::evm::named_errors()) {
        if (named.selector == chains::evm::ciphertext_material_not_found ||
            named.selector == chains::evm::start_timestamp_in_future) {
            continue;
        }
        CAPTURE(named.signature);
        const domain::Bytes data = bytes4(named.selector);
        const std::string digits = "0x" + domain::to_hex(data);
        const NodeError said[]{
            {3, "execution reverted", data},
            {3, "execution reverted: custom error " + digits, data},
            {-32'000, "execution reverted: " + digits, {}},
        };
        for (const NodeError& error : said) {
            Relay relay;
            std::size_t estimates = 0;
            relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
                if (call.method != "eth_estimateGas") return std::nullopt;
                ++estimates;
                return error;
            };
            const auto id = relay.submit(support::user_decrypt(1));
            relay.run_for(5s);
            CHECK(relay.engine.status(id) == Status::failure);
            CHECK(estimates == 1);
            const std::string name{named.signature.substr(0, named.signature.find('('))};
            CHECK(relay.failure(id).text.find(name) != std::string::npos);
            CHECK(relay.failure(id).selector == named.selector);
        }
    }
}

TEST_CASE("a request that begins after the latest block waits for it, for up to a minute") {
    for (const auto behind : {1s, 20s, 45s, 90s}) {
        CAPTURE(behind.count());
        Relay relay;
        const domain::Monotonic caught_up = relay.clock.monotonic() + behind;
        relay.chain.refuses = [&](const domain::Bytes&, bool) -> std::optional<domain::Bytes> {
            if (relay.clock.monotonic() >= caught_up) return std::nullopt;
            domain::Bytes data = bytes4(chains::evm::start_timestamp_in_future);
            data.resize(4 + 64);
            return data;
        };
        const auto id = relay.submit(support::unified_user_decrypt(1));
        relay.run_for(59s);
        if (behind > 1min) CHECK(relay.engine.status(id) == Status::processing);
        relay.run_for(2min);
        if (behind < 1min) {
            CHECK(relay.engine.status(id) == Status::receipt_received);
            continue;
        }
        CHECK(relay.engine.status(id) == Status::failure);
        CHECK(relay.failure(id).text ==
              "Transaction simulation failed: Execution reverted: 0xf24c0887 "
              "(StartTimestampInFuture)");
        CHECK(relay.chain.nonce() == 0);
    }
}

TEST_CASE("what no block holds ends at the first estimate") {
    struct Row {
        const char* label;
        Answer says;
    };
    const Row rows[]{
        {"anvil", node_error(-32'003, "Out of gas: gas required exceeds allowance: 30000000")},
        {"geth", node_error(-32'000, "gas required exceeds allowance (30000000)")},
        {"a limit", node_error(-32'000, "exceeds block gas limit")},
        {"size", node_error(-32'000, "oversized data: transaction size 200000, limit 131072")},
        {"a number", Json("0x1c9c381")},  // 30,000,001
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        Relay relay;
        std::size_t estimates = 0;
        relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
            if (call.method == "eth_getBlockByNumber" && call.params[0] == "latest") {
                return Json{{"gasLimit", "0x1c9c380"}};
            }
            if (call.method != "eth_estimateGas") return std::nullopt;
            ++estimates;
            return row.says;
        };
        const auto id = relay.submit(support::input_proof(1));
        relay.run_for(1s);
        CHECK(relay.engine.status(id) == Status::failure);
        CHECK(estimates == 1);
        CHECK(relay.failure(id).text.starts_with("RPC error: too large for a block: "));
        CHECK(relay.chain.nonce() == 0);
    }
}
