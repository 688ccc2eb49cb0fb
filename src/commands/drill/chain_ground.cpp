#include "commands/drill/chain_ground.hpp"

#include <filesystem>
#include <stdexcept>
#include <string_view>

#include "commands/drill/main_nets.hpp"
#include "commands/exit_status.hpp"
#include "domain/keccak.hpp"
#include "domain/kind.hpp"
#include "store/file_locks.hpp"
#include "store/reader.hpp"

namespace commands::drill {

namespace {

void refuse_main_net(const std::string& key, std::uint64_t chain_id) {
    const std::string_view name = main_net(chain_id);
    if (name.empty()) return;
    throw BadSettings(key + ": chain " + std::to_string(chain_id) + " is the main net of " +
                      std::string(name) +
                      ": there is no drill where it costs money; configure a test chain");
}

std::uint64_t count_unfinished(const store::Options& options) {
    const store::Backlog backlog = store::Reader(options, 1).backlog();
    std::uint64_t count = 0;
    for (const domain::Kind kind : domain::kinds) {
        if (kind == domain::Kind::share) continue;
        for (const domain::Status status : domain::statuses)
            count += backlog.count.at(kind, status);
    }
    return count;
}

}  // namespace

void require_test_chain(const config::Settings& settings) {
    if (settings.gateway != config::GatewayType::evm) {
        throw BadSettings(
            "gateway.type: the loopback is no chain to go to: set it to \"evm\", with "
            "gateway.blockchain_rpc, or leave --chain out");
    }
    if (settings.evm.keys().size() > 1) {
        throw BadSettings(
            "gateway.tx_engine.signers: the drill judges by the transactions of one account: give "
            "it a configuration with one of them alone, as gateway.tx_engine.signer");
    }
    refuse_main_net("gateway.blockchain_rpc.chain_id", settings.evm.chain_id);
    for (const auto& host : settings.evm.host_chains) {
        refuse_main_net("host_chains", host.chain_id);
    }
    if (settings.evm.host_chains.empty()) {
        throw BadSettings("host_chains: empty, so there is nothing to ask for; name one");
    }
}

std::unique_ptr<store::OwnerLock> require_idle(const store::Options& options) {
    const std::string directory = options.directory.string();
    if (store::is_held_elsewhere(options.directory / "posthouse.lock")) {
        throw std::runtime_error("a Posthouse runs on " + directory +
                                 " and may use the same signer: stop it first");
    }
    if (!std::filesystem::exists(options.directory)) return nullptr;
    auto lock = std::make_unique<store::OwnerLock>(options.directory);
    const bool has_database = std::filesystem::exists(store::database_path(options));
    const std::uint64_t unfinished = has_database ? count_unfinished(options) : 0;
    if (unfinished > 0) {
        throw std::runtime_error(
            std::to_string(unfinished) + " requests in " + directory +
            " have not ended, and the drill may take their nonces: let the service end them, or "
            "use another account with another --data-dir");
    }
    return lock;
}

ChainGround survey(const config::Settings& settings, ChainAccount& account,
                   const domain::Address& signer) {
    ChainGround ground;
    ground.chain_id = account.chain_id();
    ground.signer = signer;
    const std::string key = "gateway.blockchain_rpc.http_url";
    refuse_main_net(key, ground.chain_id);
    if (ground.chain_id != settings.evm.chain_id) {
        throw BadSettings(key + ": the node is on chain " + std::to_string(ground.chain_id) +
                          ", not on " + std::to_string(settings.evm.chain_id) +
                          "; name a node of that chain");
    }
    ground.block = account.head();
    if (account.balance() == 0 && account.gas_price() > 0) {
        throw std::runtime_error(domain::checksummed(signer) + " has no coins on chain " +
                                 std::to_string(ground.chain_id) +
                                 ": nothing it signs would be included; send it some");
    }
    ground.nonce = account.count(ground.block);
    const std::uint64_t pending = account.count_pending();
    if (pending != ground.nonce) {
        throw std::runtime_error(
            domain::checksummed(signer) + " has sent " + std::to_string(ground.nonce) +
            " transactions, " + std::to_string(pending) +
            " with those that wait: somebody else uses the key, or did; wait until they are "
            "included, or configure another signer");
    }
    ground.lock = require_idle(settings.store);
    return ground;
}

std::string price_of(const ChainGround& ground, std::uint64_t requests) {
    return "chain " + std::to_string(ground.chain_id) + ", signer " +
           domain::checksummed(ground.signer) + ": at most " + std::to_string(requests) +
           " transactions of requests, which cost gas and what the contracts take for each, and "
           "one "
           "that does nothing for each nonce that a kill leaves unused";
}

}  // namespace commands::drill
