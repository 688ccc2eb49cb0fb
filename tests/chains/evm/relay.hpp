#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "chains/evm/calls.hpp"
#include "chains/evm/gateway.hpp"
#include "chains/evm/stub_chain.hpp"
#include "chains/evm/transaction.hpp"
#include "chains/jsonrpc/decode.hpp"
#include "support/engine.hpp"
#include "support/requests.hpp"
#include "support/virtual_time.hpp"

namespace support {

// Passes everything to a gateway that comes and goes with the process.
class GatewayInPlace : public engine::Gateway {
public:
    std::unique_ptr<chains::evm::Gateway> gateway;

    void listen(engine::GatewayEvents& events, const engine::Resume& resume) override {
        gateway->listen(events, resume);
    }
    void check(std::vector<engine::CheckOrder> orders) override {
        gateway->check(std::move(orders));
    }
    void prepare(std::vector<engine::PrepareOrder> orders) override {
        gateway->prepare(std::move(orders));
    }
    void send(std::vector<engine::SendOrder> orders) override { gateway->send(std::move(orders)); }
    void send_own(std::vector<store::OwnTransaction> own) override {
        gateway->send_own(std::move(own));
    }
    [[nodiscard]] engine::Sealed seal(const domain::RequestId& id, domain::Kind kind,
                                      const engine::Plan& plan) override {
        return gateway->seal(id, kind, plan);
    }
    [[nodiscard]] std::optional<std::uint64_t> fetch_seal(const domain::RequestId& id,
                                                          domain::Kind kind,
                                                          const engine::Plan& plan) override {
        return gateway->fetch_seal(id, kind, plan);
    }
    void end_seal(std::uint64_t ticket, bool stored) override { gateway->end_seal(ticket, stored); }
    void keep_sealed() override { gateway->keep_sealed(); }
    void undo_sealed() override { gateway->undo_sealed(); }
    [[nodiscard]] std::optional<std::uint32_t> share_threshold(const domain::Bytes32& context,
                                                               std::uint32_t configured) override {
        return gateway->share_threshold(context, configured);
    }
    [[nodiscard]] bool announces_thresholds() const override {
        return gateway->announces_thresholds();
    }
    [[nodiscard]] bool hears_answers() const override { return gateway->hears_answers(); }
    void read_again(std::uint64_t block) override { gateway->read_again(block); }
    void watch(std::vector<domain::Block> blocks) override { gateway->watch(std::move(blocks)); }
    void stop() override { gateway->stop(); }
    [[nodiscard]] std::optional<std::string> problem() const override { return gateway->problem(); }
    [[nodiscard]] std::vector<engine::Dependency> dependencies() const override {
        return gateway->dependencies();
    }
    [[nodiscard]] engine::ChainReadings readings() const override { return gateway->readings(); }
};

inline bool sends(const chains::jsonrpc::Call& call) {
    return call.method.starts_with("eth_sendRawTransaction");
}

// Of a call that sends.
inline chains::evm::Transaction transaction_in(const chains::jsonrpc::Call& call) {
    return *chains::evm::decode_transaction(*chains::jsonrpc::bytes(call.params.at(0)));
}

// The same for a signer: the gateway owns what it is given.
class SignerInPlace : public chains::evm::Signer {
public:
    explicit SignerInPlace(chains::evm::Signer& signer) : signer_(signer) {}

    [[nodiscard]] std::optional<domain::Address> known_address() const override {
        return signer_.known_address();
    }
    void fetch(const chains::evm::Transaction& transaction, Done done) override {
        signer_.fetch(transaction, std::move(done));
    }
    [[nodiscard]] Upkeep keep_up() override { return signer_.keep_up(); }

private:
    chains::evm::Signer& signer_;
};

inline const domain::Address gateway_contract = address(0x6a);

// The whole relayer in virtual time in front of a chain that outlives it.
struct Relay {
    // `elsewhere`: who signs, if the key is not in the process; it outlives the relayer.
    explicit Relay(const std::function<chains::evm::Signer*(Relay&)>& elsewhere = {}) {
        if (elsewhere) signer = elsewhere(*this);
        options.chain_id = 0x9fbf1;
        options.decryption = options.input_verification = gateway_contract;
        options.signer.private_key = std::string(63, '0') + "1";
        options.host_chains = {{8009, {}, gateway_contract}};
        options.listening.listeners = {{}};
        options.listening.poll_interval = domain::Milliseconds{500};
        engine.options.readiness_pause = domain::Milliseconds{100};
        start();
        run_for(domain::Milliseconds{1'000});  // the listener has found the chain
    }

    chains::evm::Options options;
    chains::evm::Signer* signer = nullptr;
    std::vector<chains::evm::Signer*> signers;  // several that are elsewhere
    VirtualClock clock;
    VirtualExecutor executor{clock};
    GatewayInPlace gateway;
    StubChain chain{account(), gateway_contract};
    Engine engine{clock, executor, gateway};

    // Of the key 1.
    [[nodiscard]] static domain::Address account() {
        domain::Address address{};
        REQUIRE(domain::from_hex("7e5f4552091a69125d5dfcb7b8c2659029395bdf", address));
        return address;
    }

    void start() {
        chains::evm::Nodes nodes;
        nodes.write = std::make_unique<StubNode>(chain);
        nodes.read = std::make_unique<StubNode>(chain);
        nodes.hosts[8009] = std::make_unique<StubNode>(chain);
        nodes.protocol = std::make_unique<StubNode>(chain);
        nodes.listeners.push_back(std::make_unique<StubNode>(chain));
        std::vector<std::unique_ptr<chains::evm::Signer>> signing;
        if (signer != nullptr) signing.push_back(std::make_unique<SignerInPlace>(*signer));
        for (chains::evm::Signer* one : signers) {
            signing.push_back(std::make_unique<SignerInPlace>(*one));
        }
        gateway.gateway = std::make_unique<chains::evm::Gateway>(
            options, std::move(nodes), clock, chains::evm::Gateway::Workers{executor, executor},
            engine.logger, std::move(signing));
        engine.start();
    }

    void crash() {
        engine.crash();
        gateway.gateway.reset();
        executor.drop_all();
    }

    void restart() {
        crash();
        start();
    }

    void run_for(domain::Nanoseconds time) { engine.run_for(time); }

    domain::RequestId submit(const domain::Request& request) {
        requests.push_back(request);
        ids.push_back(engine.submit(request));
        return ids.back();
    }

    [[nodiscard]] domain::Failure failure(const domain::RequestId& id) {
        return engine.failure(id);
    }

    std::vector<domain::Request> requests;
    std::vector<domain::RequestId> ids;

    // Each request that was not refused is on chain once, and no nonce was left out.
    void check_inclusions() {
        const auto counts = chain.inclusions();
        std::map<domain::Bytes, int> expected;
        for (std::size_t i = 0; i < ids.size(); ++i) {
            const auto status = engine.status(ids[i]);
            if (status == domain::Status::failure) continue;
            ++expected[chains::evm::request_call(requests[i])];
        }
        CHECK(counts == expected);
        CHECK(chain.in_pool() == 0);
    }
};

}  // namespace support
