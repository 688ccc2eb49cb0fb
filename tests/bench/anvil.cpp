#include "bench/anvil.hpp"

#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>
#include <variant>

#include "chains/jsonrpc/decode.hpp"

namespace bench {

namespace {

using namespace std::chrono_literals;
using chains::jsonrpc::Json;

// Those the sample requests were made for.
constexpr const char* gateway_address = "0x26d798aa41c6af4efd0b548b0fa9668ea1575865";
constexpr const char* acl_address = "0x55693bbdc7a8910c4056aa5ba460a640e7da2a21";
constexpr const char* protocol_config_address = "0x1000000000000000000000000000000000000001";
constexpr const char* kms_generation_address = "0x1000000000000000000000000000000000000002";

constexpr std::array contracts{std::pair{gateway_address, "Gateway"},
                               std::pair{acl_address, "AccessControl"},
                               std::pair{protocol_config_address, "ProtocolConfig"},
                               std::pair{kms_generation_address, "KMSGeneration"}};

// The room in a block is no limit to anybody here.
constexpr const char* block_gas = "1000000000";
// Older ones would go to disk, which costs it more than all the rest.
constexpr const char* states_kept = "64";

std::filesystem::path log_file(const std::filesystem::path& directory) {
    return directory / "anvil.output";
}

std::string url_of(int port) {
    return "http://127.0.0.1:" + std::to_string(port);
}

std::string quoted(const std::string& text) {
    return '"' + text + '"';
}

Child::Command command(const Options& options, const std::filesystem::path& directory, int port,
                       unsigned block_seconds) {
    Child::Command command{
        .arguments = {options.anvil.string(), "--host", "127.0.0.1", "--port", std::to_string(port),
                      "--silent", "--chain-id", std::to_string(chain_id), "--slots-in-an-epoch",
                      "1", "--gas-limit", block_gas, "--prune-history", states_kept},
        .environment = {"HOME=" + directory.string()},
        .output = log_file(directory)};
    if (block_seconds > 0) {
        command.arguments.insert(command.arguments.end(),
                                 {"--block-time", std::to_string(block_seconds)});
    }
    return command;
}

}  // namespace

Anvil::Anvil(const Options& options, const std::filesystem::path& directory, unsigned block_seconds)
    : port_(free_port()),
      child_(command(options, directory, port_, block_seconds)),
      node_({.urls = {url_of(port_)}}, clock_) {
    wait_until(
        child_, log_file(directory), [this] { return is_listening(port_); }, 20s);
    put_contracts(options.contracts);
}

void Anvil::put_contracts(const std::filesystem::path& compiled) {
    std::ifstream stream(compiled);
    const Json all = Json::parse(stream);
    for (const auto& [address, name] : contracts) {
        static_cast<void>(ask("anvil_setCode", {address, all.at(name).at("code")}));
    }
    // Enough for a block to be final.
    static_cast<void>(ask("anvil_mine", {"0x4"}));
}

Json Anvil::ask(const std::string& method, Json parameters) {
    auto answer = node_.call({method, std::move(parameters)});
    if (auto* result = std::get_if<Json>(&answer)) return std::move(*result);
    const auto* error = std::get_if<chains::jsonrpc::NodeError>(&answer);
    throw std::runtime_error("anvil, " + method + ": " +
                             (error != nullptr
                                  ? error->message
                                  : std::get<chains::jsonrpc::TransportError>(answer).text));
}

std::uint64_t Anvil::included(const domain::Address& account) {
    const auto count = chains::jsonrpc::quantity(
        ask("eth_getTransactionCount", {chains::jsonrpc::hex(account), "latest"}));
    if (!count) throw std::runtime_error("anvil tells no transaction count");
    return *count;
}

domain::Address gateway_contract() {
    return *chains::jsonrpc::address(Json(gateway_address));
}

Settings on_chain(const Anvil& anvil, int send_port) {
    const std::string url = quoted(url_of(anvil.port()));
    const std::string id = std::to_string(chain_id);
    return {{"gateway.type", "\"evm\""},
            {"gateway.blockchain_rpc.chain_id", id},
            {"gateway.blockchain_rpc.http_url", quoted(url_of(send_port))},
            {"gateway.blockchain_rpc.read_http_url", url},
            {"gateway.contracts.decryption_address", quoted(gateway_address)},
            {"gateway.contracts.input_verification_address", quoted(gateway_address)},
            {"gateway.contracts.user_decrypt_shares_threshold", "9"},
            {"gateway.tx_engine.signer.type", "\"private_key\""},
            {"gateway.tx_engine.signer.private_key", quoted(relayer_key)},
            {"gateway.listener_pool.listeners", "[{type = \"polling\", url = " + url + "}]"},
            {"host_chains", "[{chain_id = " + id + ", url = " + url +
                                ", acl_address = " + quoted(acl_address) + "}]"},
            {"keyurl.kms_generation_address", quoted(kms_generation_address)},
            {"protocol_config.address", quoted(protocol_config_address)},
            {"protocol_config.ethereum_http_rpc_url", url}};
}

}  // namespace bench
