#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "chains/evm/nodes.hpp"
#include "chains/evm/options.hpp"
#include "chains/evm/signer.hpp"
#include "engine/approvals.hpp"
#include "engine/contract_signatures.hpp"
#include "engine/gateway.hpp"
#include "engine/key_material.hpp"
#include "ports/clock.hpp"
#include "ports/executor.hpp"
#include "ports/logger.hpp"

namespace chains::evm {

// A gateway chain and its host chains behind JSON-RPC (evm-gateway). For relayer requests; vote
// shares go elsewhere.
//
// Every transaction is in the database before it leaves. Its nonce stays with its request until a
// transaction with that nonce is on chain, so a crash, a lost reply or a lying node neither sends a
// request twice nor leaves a hole.
class Gateway : public engine::Gateway,
                public engine::KeyDirectory,
                public engine::Approvals,
                public engine::ContractSignatures {
public:
    // Where work waits for nodes: as many threads as should wait at once. That a sent transaction
    // waits for its receipt holds none.
    struct Workers {
        ports::Executor& reads;
        ports::Executor& sends;
    };

    // Over HTTP. Throws std::invalid_argument when a key is none, std::runtime_error when a file
    // of a signer can not be used.
    Gateway(Options options, ports::Clock& clock, Workers workers, ports::Logger& logger);
    // `signers`: in place of those of the options, as many; empty: those.
    Gateway(Options options, Nodes nodes, ports::Clock& clock, Workers workers,
            ports::Logger& logger, std::vector<std::unique_ptr<Signer>> signers = {});
    ~Gateway() override;
    Gateway(const Gateway&) = delete;
    Gateway& operator=(const Gateway&) = delete;

    void listen(engine::GatewayEvents& events, const engine::Resume& resume) override;
    void check(std::vector<engine::CheckOrder> orders) override;
    void prepare(std::vector<engine::PrepareOrder> orders) override;
    void send(std::vector<engine::SendOrder> orders) override;
    void send_own(std::vector<store::OwnTransaction> own) override;
    [[nodiscard]] engine::Sealed seal(const domain::RequestId& id, domain::Kind kind,
                                      const engine::Plan& plan) override;
    [[nodiscard]] std::optional<std::uint64_t> fetch_seal(const domain::RequestId& id,
                                                          domain::Kind kind,
                                                          const engine::Plan& plan) override;
    void end_seal(std::uint64_t ticket, bool stored) override;
    void keep_sealed() override;
    void undo_sealed() override;
    [[nodiscard]] std::optional<std::uint32_t> share_threshold(const domain::Bytes32& context,
                                                               std::uint32_t configured) override;
    [[nodiscard]] bool announces_thresholds() const override;
    [[nodiscard]] bool hears_answers() const override;
    void read_again(std::uint64_t block) override;
    void watch(std::vector<domain::Block> blocks) override;
    void stop() override;

    [[nodiscard]] std::optional<std::string> problem() const override;
    [[nodiscard]] std::vector<engine::Dependency> dependencies() const override;
    [[nodiscard]] engine::ChainReadings readings() const override;

    [[nodiscard]] std::optional<engine::KeyMaterial> current() const override;

    [[nodiscard]] Terms approval_terms(const std::string& signer) override;
    void approve(const engine::ApprovalOrder& order,
                 std::function<void(const Outcome&)> reply) override;

    [[nodiscard]] engine::SignatureAnswer ask(std::uint64_t host_chain_id,
                                              const domain::Address& account,
                                              const domain::Bytes32& digest,
                                              domain::ByteView signature) override;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace chains::evm
