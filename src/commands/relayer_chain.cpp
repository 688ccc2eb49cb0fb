#include "commands/relayer_chain.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>

#include "chains/evm/gateway.hpp"
#include "chains/evm/signers/make_signer.hpp"
#include "chains/loopback/gateway.hpp"
#include "commands/exit_status.hpp"
#include "platform/worker_pool.hpp"
#include "store/errors.hpp"

namespace commands {

namespace {

class Loopback final : public RelayerChain {
public:
    Loopback(const config::Settings& settings, ports::Clock& clock, ports::Logger& logger)
        : workers_(settings.workers), gateway_(settings.loopback, clock, workers_, logger) {}

    [[nodiscard]] engine::Gateway& gateway() override { return gateway_; }
    [[nodiscard]] engine::RoundDirectory& rounds() override { return gateway_; }
    [[nodiscard]] engine::KeyDirectory& keys() override { return gateway_; }
    [[nodiscard]] engine::ContractSignatures& contracts() override { return contracts_; }
    [[nodiscard]] engine::Approvals& approvals() override { return approvals_; }

private:
    platform::WorkerPool workers_;
    chains::loopback::Gateway gateway_;
    engine::NoContractSignatures contracts_;
    engine::NoApprovals approvals_{"the loopback is no chain: its requests cost nothing"};
};

// Rounds are the vote chain's, and nobody can be asked about them.
class NoRounds final : public engine::RoundDirectory {
public:
    [[nodiscard]] engine::RoundAnswer find(const domain::Bytes32&) override {
        return engine::Unreachable{"there is no chain for vote shares"};
    }
};

// Reads wait for nodes more than they work.
constexpr std::size_t readers_min = 16;
// Only looking for receipts that nobody waits for holds a thread.
constexpr std::size_t senders_max = 16;

class Evm final : public RelayerChain {
public:
    Evm(const config::Settings& settings, ports::Clock& clock, ports::Logger& logger)
        : readers_(std::max(settings.workers, readers_min)),
          senders_(std::clamp<std::size_t>(settings.evm.sends_max, 1, senders_max)),
          gateway_(settings.evm, clock, {readers_, senders_}, logger) {}

    [[nodiscard]] engine::Gateway& gateway() override { return gateway_; }
    [[nodiscard]] engine::RoundDirectory& rounds() override { return rounds_; }
    [[nodiscard]] engine::KeyDirectory& keys() override { return gateway_; }
    [[nodiscard]] engine::ContractSignatures& contracts() override { return gateway_; }
    [[nodiscard]] engine::Approvals& approvals() override { return gateway_; }

private:
    platform::WorkerPool readers_;
    platform::WorkerPool senders_;
    chains::evm::Gateway gateway_;
    NoRounds rounds_;
};

// The accounts, where they are known before anybody is asked.
std::string signers_of(const chains::evm::Options& evm) {
    std::string all;
    for (const auto& signing : evm.keys()) {
        const auto account = chains::evm::signers::configured_account(signing);
        all += (all.empty() ? "" : ",") + (account ? "0x" + domain::to_hex(*account) : "aws_kms");
    }
    return all;
}

// Without URLs: they may hold secrets.
std::string line_of(const chains::evm::Options& evm) {
    std::string chains;
    for (const auto& chain : evm.host_chains) {
        chains += (chains.empty() ? "" : ",") + std::to_string(chain.chain_id);
    }
    return "gateway type=evm chain_id=" + std::to_string(evm.chain_id) +
           " signer=" + signers_of(evm) +
           " listeners=" + std::to_string(evm.listening.listeners.size()) +
           " host_chains=" + chains;
}

std::unique_ptr<RelayerChain> make_loopback(const config::Settings& settings, ports::Clock& clock,
                                            ports::Logger& logger) {
    try {
        return std::make_unique<Loopback>(settings, clock, logger);
    } catch (const store::OpenError&) {
        throw;
    } catch (const store::StorageError&) {
        throw;
    } catch (const std::exception& error) {
        throw std::runtime_error("the ledger " + settings.loopback.ledger +
                                 " of the loopback gateway: " + error.what());
    }
}

std::unique_ptr<RelayerChain> make_evm(const config::Settings& settings, ports::Clock& clock,
                                       ports::Logger& logger) {
    try {
        const std::string line = line_of(settings.evm);
        auto chain = std::make_unique<Evm>(settings, clock, logger);
        logger.write(ports::LogLevel::info, line);
        return chain;
    } catch (const std::invalid_argument& error) {
        throw BadSettings(std::string("gateway.type evm: ") + error.what());
    }
}

}  // namespace

std::unique_ptr<RelayerChain> make_relayer_chain(const config::Settings& settings,
                                                 ports::Clock& clock, ports::Logger& logger) {
    switch (settings.gateway) {
        case config::GatewayType::evm:
            return make_evm(settings, clock, logger);
        case config::GatewayType::loopback:
            break;
    }
    return make_loopback(settings, clock, logger);
}

}  // namespace commands
