#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "chains/evm/abi.hpp"
#include "chains/evm/relay.hpp"
#include "chains/evm/selectors.hpp"
#include "chains/evm/token_amount.hpp"
#include "domain/keccak.hpp"

namespace support {

// A relayer in front of a chain where requests are paid for in a token.
struct ApprovalRelay {
    using Answer = chains::jsonrpc::Answer;
    using Call = chains::jsonrpc::Call;
    using Json = chains::jsonrpc::Json;

    explicit ApprovalRelay(const std::function<chains::evm::Signer*(Relay&)>& elsewhere = {})
        : relay(elsewhere) {
        relay.options.fee_token = token;
        relay.options.protocol_payment = spender;
        relay.chain.before = [this](const Call& call) { return ask(call); };
        relay.restart();
        relay.run_for(domain::Milliseconds{1'000});
    }

    const domain::Address token = address(0x70);
    domain::Address spender = address(0x71);
    unsigned decimals = 6;
    std::string supply = "1000000";
    std::string balance = "500.25";
    // Before the token: what the node says.
    std::function<std::optional<Answer>(const Call&)> before;
    Relay relay;

    std::vector<engine::Approvals::Outcome> outcomes;  // of approve()

    [[nodiscard]] engine::Approvals& port() { return *relay.gateway.gateway; }
    [[nodiscard]] engine::ApprovalTerms terms() {
        return std::get<engine::ApprovalTerms>(port().approval_terms(""));
    }
    [[nodiscard]] engine::ApprovalOrder order(const std::string& amount) {
        const auto shown = terms();
        return {amount, shown.signer, shown.token, shown.spender};
    }
    void approve(const engine::ApprovalOrder& wanted) {
        port().approve(wanted, [this](const auto& outcome) { outcomes.push_back(outcome); });
    }
    void approve(const std::string& amount) { approve(order(amount)); }
    [[nodiscard]] std::string refusal() const {
        return std::get<engine::NotApproved>(outcomes.at(0)).reason;
    }

    // Nonces of the approvals that a block has.
    [[nodiscard]] std::vector<std::uint64_t> approvals() const {
        std::vector<std::uint64_t> nonces;
        for (const auto& entry : relay.chain.included()) {
            if (is_approval(entry.transaction)) nonces.push_back(entry.transaction.nonce);
        }
        return nonces;
    }
    [[nodiscard]] bool is_approval(const chains::evm::Transaction& transaction) const {
        return transaction.to == token && transaction.data.size() == 4 + 64;
    }
    [[nodiscard]] std::string last_state() { return terms().sent.back().state; }

    // Every nonce was used, each once.
    void check_gapless() const {
        std::uint64_t next = 0;
        for (const auto& entry : relay.chain.included()) {
            CHECK(entry.transaction.nonce == next++);
        }
        CHECK(relay.chain.nonce() == next);
        CHECK(relay.chain.in_pool() == 0);
    }

private:
    std::optional<Answer> ask(const Call& call) {
        if (before) {
            if (auto said = before(call)) return said;
        }
        if (call.method != "eth_call" || call.params[0].at("to") != chains::jsonrpc::hex(token)) {
            return std::nullopt;
        }
        const auto data = *chains::jsonrpc::bytes(call.params[0].at("input"));
        const auto selector = chains::jsonrpc::hex(domain::ByteView{data}.first(4));
        const auto amount = [this](const std::string& text) -> Answer {
            return Json(chains::jsonrpc::hex(
                std::get<domain::Bytes32>(chains::evm::read_token_amount(text, decimals))));
        };
        if (selector == "0x313ce567") {
            return Json(chains::jsonrpc::hex(
                chains::evm::abi::Tuple{}.add(std::uint64_t{decimals}).encoded()));
        }
        if (selector == "0x18160ddd") return amount(supply);
        if (selector == "0x70a08231") return amount(balance);
        if (selector == "0xdd62ed3e") return Json(chains::jsonrpc::hex(allowance()));
        if (selector == "0x95d89b41") {
            const std::string symbol = "FEE";
            return Json(
                chains::jsonrpc::hex(chains::evm::abi::Tuple{}
                                         .add_bytes(domain::Bytes{symbol.begin(), symbol.end()})
                                         .encoded()));
        }
        return std::nullopt;
    }

    // What the newest approval on chain says.
    [[nodiscard]] domain::Bytes32 allowance() const {
        domain::Bytes32 amount{};
        for (const auto& entry : relay.chain.included()) {
            if (!is_approval(entry.transaction)) continue;
            std::copy(entry.transaction.data.end() - 32, entry.transaction.data.end(),
                      amount.begin());
        }
        return amount;
    }
};

}  // namespace support
