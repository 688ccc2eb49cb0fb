// Where the chain itself says which token fees are paid in, and who takes them.

#include <map>
#include <string>
#include <vector>

#include "chains/evm/abi.hpp"
#include "chains/evm/approval_relay.hpp"
#include "chains/evm/fee_contracts.hpp"

using chains::evm::addresses_in;
using chains::jsonrpc::Answer;
using chains::jsonrpc::Call;
using chains::jsonrpc::Json;
using chains::jsonrpc::TransportError;
using support::ApprovalRelay;
using namespace std::chrono_literals;

namespace {

std::string hex_of(const domain::Address& address) {
    return domain::to_hex(address);
}

std::vector<std::string> found_in(const std::string& code) {
    std::vector<std::string> all;
    for (const auto& address : addresses_in(domain::from_hex(code).value())) {
        all.push_back(hex_of(address));
    }
    return all;
}

// A gateway contract behind a proxy that has its payment contract as a constant, which is a proxy
// whose implementation has the token as one. Nothing of that is configured.
struct Published {
    Published() {
        world.relay.options.fee_token.reset();
        world.relay.options.protocol_payment.reset();
        world.before = [this](const Call& call) { return ask(call); };
        world.relay.restart();
        world.relay.run_for(1s);
    }

    ApprovalRelay world;
    const std::string gateway = "0x" + hex_of(support::gateway_contract);
    const std::string spender = "0x" + hex_of(support::address(0x71));
    const std::string gateway_code_at = "0x" + hex_of(support::address(0x81));
    const std::string spender_code_at = "0x" + hex_of(support::address(0x82));
    std::map<std::string, std::string> codes{
        {gateway, "0x6001"},
        {gateway_code_at,
         "0x73" + hex_of(support::address(0x72)) + "73" + hex_of(support::address(0x71)) + "50"},
        {spender, "0x6001"},
        {spender_code_at, "0x73" + hex_of(support::gateway_contract) + "73" +
                              hex_of(support::address(0x70)) + "50"}};
    std::map<std::string, std::string> implementations{{gateway, gateway_code_at},
                                                       {spender, spender_code_at}};
    std::optional<std::string> silent_method;

private:
    std::optional<Answer> ask(const Call& call) {
        if (call.method == silent_method) {
            return TransportError{TransportError::Kind::unsent, "connection refused", {}};
        }
        if (call.method == "eth_getCode") {
            const auto code = codes.find(call.params[0].get<std::string>());
            return Json(code == codes.end() ? "0x60" : code->second);
        }
        if (call.method == "eth_getStorageAt") {
            CHECK(call.params[1] ==
                  "0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc");
            const auto found = implementations.find(call.params[0].get<std::string>());
            const std::string address =
                found == implementations.end() ? std::string(40, '0') : found->second.substr(2);
            return Json("0x" + std::string(24, '0') + address);
        }
        if (call.method != "eth_call") return std::nullopt;
        const auto place = call.params[0].at("to").get<std::string>();
        const auto data = call.params[0].at("input").get<std::string>();
        if (data.starts_with("0x0d8e6e2c")) {  // getVersion()
            if (place != spender) return Json("0x");
            const std::string version = "ProtocolPayment v0.1.0";
            return Json(
                chains::jsonrpc::hex(chains::evm::abi::Tuple{}
                                         .add_bytes(domain::Bytes{version.begin(), version.end()})
                                         .encoded()));
        }
        const bool of_token = data.starts_with("0x313ce567") || data.starts_with("0x18160ddd");
        if (of_token && place != "0x" + hex_of(support::address(0x70))) return Json("0x");
        return std::nullopt;
    }
};

}  // namespace

TEST_CASE("bytecode is read as it runs: what other instructions push is no address") {
    const std::string a(40, 'a');
    const std::string b(40, 'b');
    struct Row {
        const char* label;
        std::string code;
        std::vector<std::string> expected;
    };
    for (const Row& row : std::vector<Row>{
             {"nothing", "", {}},
             {"one", "73" + a, {a}},
             {"two, one of them twice", "73" + a + "5073" + b + "73" + a, {a, b}},
             {"behind other pushes", "600173" + a, {a}},
             {"inside another push", "74" + std::string("73") + a, {}},
             {"at the end, cut off", "73" + a.substr(2), {}},
             {"only the instruction", "73", {}},
             {"a push of 32 bytes cut off", "7f" + a, {}},
         }) {
        CAPTURE(row.label);
        CHECK(found_in(row.code) == row.expected);
    }
    std::string many;
    for (int i = 0; i < 400; ++i) {
        many += "73" + std::string(36, '0') +
                domain::to_hex(domain::Bytes{static_cast<std::uint8_t>(i / 256),
                                             static_cast<std::uint8_t>(i % 256)});
    }
    CHECK(found_in(many).size() == 256);
}

TEST_CASE("what is not configured is found in the code of the published contracts") {
    Published chain;
    const auto terms = chain.world.terms();
    CHECK(terms.spender == domain::checksummed(support::address(0x71)));
    CHECK(terms.spender_is == "ProtocolPayment v0.1.0");
    CHECK(terms.token == domain::checksummed(support::address(0x70)));
    chain.world.approve("3");
    chain.world.relay.run_for(3s);
    CHECK(chain.world.approvals().size() == 1);
}

TEST_CASE("a token or a spender that became another one is not approved") {
    Published chain;
    const auto order = chain.world.order("3");
    chain.codes[chain.spender_code_at] = "0x6001";
    chain.world.approve(order);
    CHECK(chain.world.refusal() ==
          "the chain does not tell which token fees are paid in: no such "
          "address is in the code at " +
              chain.spender + "; set gateway.contracts.fee_token_address");
    chain.codes[chain.gateway_code_at] = "0x6001";
    CHECK(std::get<engine::NotApproved>(chain.world.port().approval_terms("")).reason ==
          "the chain does not tell who takes fees: no such address is in the code at " +
              chain.gateway + "; set gateway.contracts.protocol_payment_address");
    for (const char* method : {"eth_getCode", "eth_getStorageAt", "eth_call"}) {
        CAPTURE(method);
        Published away;
        away.silent_method = method;
        const auto refused = std::get<engine::NotApproved>(away.world.port().approval_terms(""));
        CHECK(refused.why == engine::NotApproved::Why::now);
        CHECK(refused.reason == "the node did not answer: connection refused");
    }
}
